import { APPROVED_CENTS } from './intent-rows.ts'
import { AGENT_NUMBER, AGENT_OF, INTENT, PERIODS, walletOfLocked } from './intent-sql.ts'
import { byValues, eventsOf, publish, transaction } from './journal-sql.ts'
import { releaseSql } from './ledger-sql.ts'
import { inOrder, KEY, type SqlEquivalent } from './pgbench.ts'

/** The spaces after colons keep pgbench from taking them for variables. */
const EVENT_DATA = `{"intentId":"intent_01kagp6mybf2ktzn5dx2q8fjzd","agentId":"agent_bench_1","status":"cancelled",
  "amountEuros":9.5,"merchant":"Bookshop"}`

const about = { agent: AGENT_OF, data: EVENT_DATA }

/** The counters and the account are locked before the intent, so its agent is read first. */
const AGENT_READ = `select i.agent_id, a.wallet_id from intents i
  join agents a on (a.owner_id, a.mode, a.id) = (i.owner_id, i.mode, i.agent_id)
  where i.owner_id = :owner and i.mode = 'test' and i.id = ${INTENT}`

const COUNTERS_LOCKED = `select * from open_limits(:owner, 'test', '{}', current_date, array[${AGENT_OF}], '{intent}',
  array[${INTENT}], '{}')`

const TENANT = `owner_id = :owner and mode = 'test'`
const RESERVATION = `select * from reservations where ${TENANT} and cause_type = 'intent' and cause_id = ${INTENT}`
const HOLD = `select * from ledger_holds where ${TENANT} and reference_type = 'intent' and reference_id = ${INTENT}`
const INTENT_LOCKED = `select * from intents where ${TENANT} and id = ${INTENT} for update`

const CANCELLED = `update intents set status = 'cancelled', comment = 'Not needed', updated_at = now()
  where ${TENANT} and id = ${INTENT}`
const UNCOUNTED = `update counters set reserved_cents = reserved_cents - ${APPROVED_CENTS},
    reserved_uses = reserved_uses - (period = 'all')::int
  where ${TENANT} and subject = ${AGENT_OF} and period in ${PERIODS}`
const UNRESERVED = `update reservations set reserved_cents = 0
  where ${TENANT} and cause_type = 'intent' and cause_id = ${INTENT}`

const RELEASED = `select ${releaseSql(`'account_bench_' || ${AGENT_NUMBER}`, INTENT, APPROVED_CENTS, `'hold_bench_' || :n`)}`

/** Cancels each approved intent once in SQL, and releases its reservation and its hold. */
export const cancelInSql = (first: number): SqlEquivalent => ({
  draw: [...inOrder(first), KEY],
  scripts: {
    statements: transaction([
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
      publish('intent.cancelled', about),
    ]),
  },
})
