interface PlanLimits {
  /** How many subscriptions an owner has in each mode. */
  readonly subscriptions: number
  /** How many deliveries wait at once, for all of them together. */
  readonly waiting: number
}

const free: PlanLimits = { subscriptions: 5, waiting: 5_000 }

const byPlan: Readonly<Record<string, PlanLimits>> = {
  free,
  starter: { subscriptions: 20, waiting: 20_000 },
  business: { subscriptions: 100, waiting: 50_000 },
  enterprise: { subscriptions: 1_000, waiting: 100_000 },
}

export const maxSubscriptions = (plan: string): number => (byPlan[plan] ?? free).subscriptions

/** How many deliveries may wait on each plan, as JSON for the database. */
export const WAITING_BY_PLAN = JSON.stringify(
  Object.fromEntries(Object.entries(byPlan).map(([plan, { waiting }]) => [plan, waiting])),
)

/** How often the events or the status of a paused subscription may change: each change is recorded on it. */
export const MAX_BACKLOG_CHANGES = 20
