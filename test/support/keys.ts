import type { TestClient } from './factories.ts'
import { until } from './until.ts'

export const isAccepted = async (client: TestClient): Promise<boolean> =>
  (await client.customers.me()).status === 200

export async function secondsUntilRefused(client: TestClient): Promise<number> {
  const began = performance.now()
  await until('the key stops', async () => !(await isAccepted(client)))
  return (performance.now() - began) / 1_000
}

export const minutesFromNow = (minutes: number): number => Date.now() + minutes * 60_000
