import type { TestClient } from './factories.ts'
import { until } from './until.ts'

export const opens = async (client: TestClient): Promise<boolean> =>
  (await client.customers.me()).status === 200

export async function secondsUntilShut(client: TestClient): Promise<number> {
  const began = performance.now()
  await until('the key stops', async () => !(await opens(client)))
  return (performance.now() - began) / 1_000
}

export const wait = (minutes: number): number => Date.now() + minutes * 60_000
