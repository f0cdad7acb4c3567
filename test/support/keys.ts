import type { TestClient } from './factories.ts'
import { until } from './until.ts'

export const isAccepted = async (client: TestClient): Promise<boolean> =>
  (await client.customers.me()).status === 200

/**
 * How many seconds from now on a request could begin that was still accepted. How long a busy machine takes to answer it does
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
