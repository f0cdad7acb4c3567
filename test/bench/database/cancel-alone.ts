import { AGENT_NUMBER, AGENT_OF, INTENT, PERIODS, walletOfLocked } from './intent-alone.ts'
import { APPROVED_CENTS } from './intent-rows.ts'
import { byValues, committed, eventsOf, published } from './journal-alone.ts'
import { released } from './ledger-alone.ts'
import { type Alone, inOrder, KEY } from './pgbench.ts'

/** In a script of pgbench a colon before a letter begins a variable, hence the spaces. */
const EVENT_DATA = `{"intentId":"intent_01kagp6mybf2ktzn5dx2q8fjzd","agentId":"agent_bench_1","status":"cancelled",
  "amountEuros":9.5,"merchant":"Bookshop"}`

const about = { agent: AGENT_OF, data: EVENT_DATA }

/** The counters and the account are locked before the intent, so its agent is read first. */
const AGENT_READ = `select i.agent_id, a.wallet_id from intents i
  join agents a on (a.owner_id, a.mode, a.id) = (i.owner_id, i.mode, i.agent_id)
  where i.owner_id = :owner and i.mode = 'test' and i.id = ${INTENT}`

const COUNTERS_LOCKED = `select * from open_counters(:owner, 'test', '{}', current_date, array[${AGENT_OF}], '{intent}',
  array[${INTENT}])`

const OURS = `owner_id = :owner and mode = 'test'`
const RESERVATION = `select * from reservations where ${OURS} and cause_type = 'intent' and cause_id = ${INTENT}`
const HOLD = `select * from ledger_holds where ${OURS} and reference_type = 'intent' and reference_id = ${INTENT}`
const INTENT_LOCKED = `select * from intents where ${OURS} and id = ${INTENT} for update`

const CANCELLED = `update intents set status = 'cancelled', comment = 'Not needed', updated_at = now()
  where ${OURS} and id = ${INTENT}`
const UNCOUNTED = `update counters set reserved_cents = reserved_cents - ${APPROVED_CENTS},
    reserved_uses = reserved_uses - (period = 'all')::int
  where ${OURS} and subject = ${AGENT_OF} and period in ${PERIODS}`
const UNRESERVED = `update reservations set reserved_cents = 0
  where ${OURS} and cause_type = 'intent' and cause_id = ${INTENT}`

const RELEASED = `select ${released(`'account_bench_' || ${AGENT_NUMBER}`, INTENT, APPROVED_CENTS, `'hold_bench_' || :n`)}`

/** Cancelling an approved intent without us, each of them once: what it reserves and holds becomes free. */
export const cancellingAlone = (first: number): Alone => ({
  draw: [...inOrder(first), KEY],
  scripts: {
    statements: committed([
      AGENT_READ,
      COUNTERS_LOCKED,
      RESERVATION,
      walletOfLocked,
      HOLD,
      INTENT_LOCKED,
      CANCELLED,
      UNCOUNTED,
      UNRESERVED,
      RELEASED,
      ...eventsOf('intents.cancel', ['intent.cancelled'], about).map(byValues),
      published('intent.cancelled', about),
    ]),
  },
})
