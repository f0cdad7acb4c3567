import { AGENTS, DECISION } from './intent-rows.ts'
import {
  byValues,
  type Insert,
  inTransaction,
  journalOf,
  oneStatement,
  storedAnswerOf,
} from './journal-sql.ts'
import { accountsLocked, holdSql } from './ledger-sql.ts'
import { inOrder, KEY, type SqlEquivalent } from './pgbench.ts'

/** The spaces after colons keep pgbench from taking them for variables. */
const EVENT_DATA = `{"intentId":"intent_01kagp6mybf2ktzn5dx2q8fjzd","agentId":"agent_bench_1","status":"approved",
  "amountEuros":9.5,"merchant":"Bookshop"}`

const BODY = `{"id":"intent_01kagp6mybf2ktzn5dx2q8fjzd","ownerId":"customer_01kagp6mybf2ktzn5dx2q8fjzd","mode":"test",
  "agentId":"agent_bench_1","status":"approved","amountEuros":9.5,"currency":"EUR","merchant":"Bookshop","mcc": null,
  "country": null,"purpose":"A paper on caching","beneficiaryId": null,"walletId": null,"cardId": null,"runId": null,
  "delegationId": null,"clientIntentId": null,"possibleDuplicateOf": null,"expiresAt":"2026-11-21T09:30:00.000Z",
  "decidedAt":"2026-11-20T09:30:00.000Z","decidedBy":{"type":"policy","id":"policy_bench_1","name": null},"comment": null,
  "decision":${DECISION},"transactionId": null,"workflowId": null,"metadata":{},"createdAt":"2026-11-20T09:30:00.000Z",
  "updatedAt":"2026-11-20T09:30:00.000Z"}`

export const REQUEST = `{"kind":"intent","at":"2026-11-20T09:30:00.000Z","amountEuros":"950","merchant":"Bookshop","mcc": null,
  "country": null,"agentStatus":"active","policyEndsAt": null,"intentId": null,"possibleDuplicateOf": null,"budgets":[],
  "risk": null,"approval": null,"walletFrozen": false,"availableEuros":"100000000"}`
export const COUNTERS = `{"dayEuros":"0","monthEuros":"0","uses":0,"lastSpendAt": null,"firstMerchant": null}`

const INSERT_INTENT = `insert into intents (id, owner_id, mode, created_at, updated_at, agent_id, status, amount_cents,
    currency, merchant, purpose, expires_at, decided_at, decided_by, decision, metadata)`
const INSERT_OUTBOX =
  'insert into outbox (id, owner_id, mode, process, recurs, workflow_id, input, created_at, due_at)'

const AGENT = `'agent_bench_' || :agent`
const NEW_INTENT = `'intent_' || :key`
const holding = `select ${holdSql(`'account_bench_' || :agent`, NEW_INTENT, 950)} as at`
const walletLocked = accountsLocked([`'wallet_bench_' || :agent`])

export const rulingOf = (
  agent: string,
): string => `select a.id, a.status, a.wallet_id, p.id as policy_id, p.version, p.auto_approve_limit_cents, p.require_attestation
  from agents a
  left join policies p on (p.owner_id, p.mode, p.id) = (a.owner_id, a.mode, a.policy_id) and p.deleted_at is null
  where a.owner_id = :owner and a.mode = 'test' and a.id = ${agent} for no key update of a`
const ruling = rulingOf(AGENT)

export const PERIODS = `('all', 'day:' || current_date, 'month:' || to_char(current_date, 'YYYY-MM'))`

/** Locks the limit counters of an agent, and reserves an amount in them. */
const countersLocked = (agent: string): string =>
  `select * from open_limits(:owner, 'test', array[${agent}], current_date, '{}', '{}', '{}', array[${agent}])`
const counted = (agent: string, cents: number): string => `update counters
  set reserved_cents = reserved_cents + ${cents}, reserved_uses = reserved_uses + (period = 'all')::int,
    last_spend_at = now()
  where owner_id = :owner and mode = 'test' and subject = ${agent} and period in ${PERIODS}`
const reserved = (agent: string, intent: string, cents: number): Insert => ({
  into: `insert into reservations (owner_id, mode, cause_type, cause_id, subjects, day, term, amount_cents,
    reserved_cents, spent_cents)`,
  rows: [`:owner, 'test', 'intent', ${intent}, array[${agent}], current_date, now(), ${cents}, ${cents}, 0`],
})
const decided = (agent: string, intent: string): Insert => ({
  into: `insert into decisions (id, owner_id, mode, created_at, updated_at, agent_id, subject_type, subject_id,
    policy_id, policy_version, request, counters, result)`,
  rows: [
    `'decision_' || :key, :owner, 'test', now(), now(), ${agent}, 'intent', ${intent}, 'policy_bench_1', 1,
      '${REQUEST}'::jsonb, '${COUNTERS}'::jsonb, '${DECISION}'::jsonb`,
  ],
})

/** Reads and writes the risk profile of an agent, for a known merchant. */
export const usual = (agent: string): string =>
  `select * from risk_open(:owner, 'test', array[${agent}], array['merchant'])`
export const profiled = (agent: string): string => `insert into risk_profiles
    (owner_id, mode, agent_id, amounts, hours, minute, counts)
  values (:owner, 'test', ${agent}, array_fill(950::bigint, array[64]), array_fill(1, array[24]), 1, array_fill(7, array[10]))
  on conflict (owner_id, mode, agent_id) do update set amounts = excluded.amounts, hours = excluded.hours,
    minute = excluded.minute, counts = excluded.counts`

const declaring: readonly Insert[] = [
  {
    into: INSERT_INTENT,
    rows: [
      `${NEW_INTENT}, :owner, 'test', now(), now(), ${AGENT}, 'approved', 950, 'EUR', 'Bookshop',
        'A paper on caching', now() + interval '1 day', now(),
        '{"type":"policy","id":"policy_bench_1","name": null}'::jsonb, '${DECISION}'::jsonb, '{}'::jsonb`,
    ],
  },
  decided(AGENT, NEW_INTENT),
  reserved(AGENT, NEW_INTENT, 950),
  ...journalOf(
    'intents.create',
    ['intent.created', 'intent.approved'],
    { agent: AGENT, data: EVENT_DATA },
    BODY,
  ),
]

export const declareInSql = (agents: number): SqlEquivalent => ({
  draw: [`agent random(1, ${agents})`, KEY],
  scripts: {
    statements: inTransaction('intents.create', [
      ruling,
      countersLocked(AGENT),
      walletLocked,
      usual(AGENT),
      ...declaring.map(byValues),
      counted(AGENT, 950),
      profiled(AGENT),
      holding,
    ]),
    'one statement': oneStatement(
      [
        `k as (${storedAnswerOf('intents.create')})`,
        `a as (${ruling})`,
        `c as materialized (${countersLocked(AGENT)})`,
        `w as (${walletLocked})`,
        `u as materialized (${usual(AGENT)})`,
        `taken as (${counted(AGENT, 950)})`,
        `seen as (${profiled(AGENT)})`,
        `agreed as (${holding} from a, w where (select count(*) from c) > 0 and (select count(*) from u) > 0 and status = 'active' and not require_attestation
          and auto_approve_limit_cents >= 950 and posted_cents - held_cents >= 950 and not exists (select from k))`,
      ],
      declaring,
      'agreed',
    ),
  },
})

export const INTENT = `'intent_bench_' || :n`
export const AGENT_NUMBER = `1 + :n % ${AGENTS}`
export const AGENT_OF = `'agent_bench_' || ${AGENT_NUMBER}`
const holdingFor = `select ${holdSql(`'account_bench_' || ${AGENT_NUMBER}`, INTENT, 7_500)} as at`
export const walletOfLocked = accountsLocked([`'wallet_bench_' || ${AGENT_NUMBER}`])

const agentLocked = `select a.id from agents a where a.owner_id = :owner and a.mode = 'test'
  and a.id = (select agent_id from intents where owner_id = :owner and mode = 'test' and id = ${INTENT}) for no key update of a`
const waiting = `select i.*, a.status as agent_status, coalesce(p.require_attestation, false) as attested
  from intents i
  join agents a on (a.owner_id, a.mode, a.id) = (i.owner_id, i.mode, i.agent_id)
  left join policies p on (p.owner_id, p.mode, p.id) = (a.owner_id, a.mode, a.policy_id) and p.deleted_at is null
  where i.owner_id = :owner and i.mode = 'test' and i.id = ${INTENT} for update of i`
const approved = `update intents set status = 'approved', updated_at = now(), decided_at = now(),
  decided_by = '{"type":"key","id":"key_bench","name": null}'::jsonb where id = ${INTENT}`

const approving: readonly Insert[] = [
  decided(AGENT_OF, INTENT),
  reserved(AGENT_OF, INTENT, 7_500),
  ...journalOf('intents.approve', ['intent.approved'], { agent: AGENT_OF, data: EVENT_DATA }, BODY),
  {
    into: INSERT_OUTBOX,
    rows: [
      `uuidv7()::text, :owner, 'test', 'intent', false, 'intent/' || ${INTENT},
        '{"id":"intent_01kagp6mybf2ktzn5dx2q8fjzd","mode":"test","agentId":"agent_bench_1"}'::jsonb, now(), now()`,
    ],
  },
]

export const approveInSql = (first: number): SqlEquivalent => ({
  draw: [...inOrder(first), KEY],
  scripts: {
    statements: inTransaction('intents.approve', [
      agentLocked,
      countersLocked(AGENT_OF),
      walletOfLocked,
      waiting,
      usual(AGENT_OF),
      approved,
      counted(AGENT_OF, 7_500),
      profiled(AGENT_OF),
      holdingFor,
      ...approving.map(byValues),
    ]),
    'one statement': oneStatement(
      [
        `k as (${storedAnswerOf('intents.approve')})`,
        `a as (${agentLocked})`,
        `c as materialized (${countersLocked(AGENT_OF)})`,
        `w as (${walletOfLocked})`,
        `u as materialized (${usual(AGENT_OF)})`,
        `taken as (${counted(AGENT_OF, 7_500)})`,
        `seen as (${profiled(AGENT_OF)})`,
        `i as (${waiting})`,
        `changed as (${approved} and exists (select from a) and (select count(*) from c) + (select count(*) from u) > 1 and exists (select from i where status = 'created')
          and exists (select from w where posted_cents - held_cents >= 7500) and not exists (select from k)
          returning id)`,
        `agreed as (${holdingFor} from changed)`,
      ],
      approving,
      'agreed',
    ),
  },
})
