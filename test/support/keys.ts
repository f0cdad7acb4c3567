import type { TestClient } from './factories.ts'
import { until } from './until.ts'

export const isAccepted = async (client: TestClient): Promise<boolean> =>
  (await client.customers.me()).status === 200

/**
 * Seconds from now until a new request would be refused. The time that a busy machine takes to answer does
 * not count.
 */
export async function secondsUntilRefused(isAccepted: () => Promise<boolean>): Promise<number> {
  const from = performance.now()
  let last = from
  await until('nobody accepts it', async () => {
    const began = performance.now()
    const isStillAccepted = await isAccepted()
    if (isStillAccepted) last = began
    return !isStillAccepted
  })
  return (last - from) / 1_000
}

export const minutesFromNow = (minutes: number): number => Date.now() + minutes * 60_000
