/** The tiers of plans. `full` has the same as `basic` so far. */
const tiers = {
  basic: { retries: false, deadLetters: false },
  full: { retries: false, deadLetters: false },
  full_retry: { retries: true, deadLetters: false },
  full_dlq: { retries: true, deadLetters: true },
} as const

export const tierNames = Object.keys(tiers) as (keyof typeof tiers)[]

const byPlan: Readonly<Record<string, keyof typeof tiers>> = {
  free: 'basic',
  starter: 'full',
  business: 'full_retry',
  enterprise: 'full_dlq',
}

/** A delivery is tried at once and again after each of the waits; `lastly` is its state after the last failure. */
export interface Tier {
  readonly waitsMs: readonly number[]
  readonly lastly: 'failed' | 'dead'
}

const nameOf = (plan: string): keyof typeof tiers => byPlan[plan] ?? 'basic'

/** The tier of a plan, with the waits that this installation has. */
export function tierOf(plan: string, waitsMs: readonly number[]): Tier {
  const { retries, deadLetters } = tiers[nameOf(plan)]
  return { waitsMs: retries ? waitsMs : [], lastly: deadLetters ? 'dead' : 'failed' }
}

/** The tier of a plan as the API shows it. */
export function retriesOf(plan: string, retrySeconds: readonly number[]) {
  const tier = nameOf(plan)
  const { retries, deadLetters: deadLetter } = tiers[tier]
  const backoffSeconds = retries ? [...retrySeconds] : []
  return { tier, maxAttempts: backoffSeconds.length + 1, backoffSeconds, deadLetter }
}
