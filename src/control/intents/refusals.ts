import { type Failure, missing } from '../../kernel/contract/operation.ts'

const { intent_not_found, intent_not_waiting, intent_expired, intent_closed } = {
  intent_not_found: missing('intent'),
  intent_not_waiting: [400, 'The intent does not wait for a decision any more.'],
  intent_expired: [400, 'The deadline of the intent has passed. Declare it again.'],
  intent_closed: [400, 'The intent has ended already.'],
} as const satisfies Record<string, Failure>

export const finding = { intent_not_found }
export const deciding = { intent_not_found, intent_not_waiting, intent_expired }
export const cancelling = {
  ...{ intent_not_found, intent_closed, intent_expired },
  intent_being_paid: [400, 'A payment on it is under way. Cancel that payment first.'],
} as const satisfies Record<string, Failure>

/** What is paid is what the record says. */
export const payee_mismatch: Failure = [
  400,
  'merchant or country: the record of the payee says otherwise. Leave it out.',
]

/** Nothing new is approved there. */
export const overThere = {
  run_over: [400, 'The run has ended: nothing more is spent in it. Start another one.'],
  delegation_over: [400, 'The delegation is revoked or has expired: nothing more is spent under it.'],
} as const satisfies Record<string, Failure>

/** Of the run in which it is asked. */
export const inRun = {
  run_not_found: [404, 'runId: the agent has no such run.'],
  run_mismatch: [400, 'runId: the header X-Run-Id names another run. Name one.'],
} as const satisfies Record<string, Failure>
