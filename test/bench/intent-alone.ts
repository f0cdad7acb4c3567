import { AGENTS, DECISION } from './intent-rows.ts'
import { type Alone, inTurn, KEY } from './pgbench.ts'

/** In a script of pgbench a colon before a letter begins a variable, hence the spaces. */
const EVENT_DATA = `{"intentId":"intent_01kagp6mybf2ktzn5dx2q8fjzd","agentId":"agent_bench_1","status":"approved",
  "amountEuros":9.5,"merchant":"Bookshop"}`

const BODY = `{"id":"intent_01kagp6mybf2ktzn5dx2q8fjzd","ownerId":"customer_01kagp6mybf2ktzn5dx2q8fjzd","mode":"test",
  "agentId":"agent_bench_1","status":"approved","amountEuros":9.5,"currency":"EUR","merchant":"Bookshop","mcc": null,
  "country": null,"purpose":"A paper on caching","beneficiaryId": null,"walletId": null,"cardId": null,"runId": null,
  "delegationId": null,"clientIntentId": null,"possibleDuplicateOf": null,"expiresAt":"2026-11-21T09:30:00.000Z",
  "decidedAt":"2026-11-20T09:30:00.000Z","decidedBy":{"type":"policy","id":"policy_bench_1","name": null},"comment": null,
  "decision":${DECISION},"transactionId": null,"workflowId": null,"metadata":{},"createdAt":"2026-11-20T09:30:00.000Z",
  "updatedAt":"2026-11-20T09:30:00.000Z"}`

/** Every event comes with a row of the audit trail. */
const eventOf = (name: string, agent: string): string =>
  `uuidv7()::text, :owner, 'test', ${agent}, '${name}', '${EVENT_DATA}'::jsonb, gen_random_uuid()::text, now()`
const auditOf = (name: string, agent: string, action: string): string =>
  `uuidv7()::text, :owner, 'test', 'key', 'key_bench', '${action}', '${name}', uuidv7()::text, 'done',
    uuidv7()::text, ${agent}, gen_random_uuid()::text, '127.0.0.1', now()`
const keptOf = (action: string): string =>
  `:owner, 'test', '', '${action}', 'key' || :key, 'hash', 201, '${BODY}', null, null, now()`

const insert = {
  intent: `insert into intents (id, owner_id, mode, created_at, updated_at, agent_id, status, amount_cents, currency,
    merchant, purpose, expires_at, decided_at, decided_by, decision, metadata)`,
  event: 'insert into events (id, owner_id, mode, agent_id, event, data, request_id, created_at)',
  audit: `insert into audit_entries (id, owner_id, mode, actor_type, actor_id, action, event, event_id, outcome,
    resource_id, agent_id, request_id, address, at)`,
  kept: `insert into idempotency_keys (owner_id, mode, agent_id, operation, key, request_hash, status, body,
    error_code, reservation, created_at)`,
  outbox: 'insert into outbox (id, owner_id, mode, process, recurs, workflow_id, input, created_at, due_at)',
}

const knownOf = (action: string): string => `select status, body from idempotency_keys
  where owner_id = :owner and mode = 'test' and agent_id = '' and operation = '${action}' and key = 'key' || :key`

const begin = ['begin', `select pg_try_advisory_xact_lock(hashtextextended('key' || :key, 0))`]

/** One after the other, or all from one row of `source`. */
interface Written {
  readonly into: string
  readonly rows: readonly string[]
}

const byValues = ({ into, rows }: Written): string =>
  `${into} values ${rows.map(row => `(${row})`).join(', ')}`
const bySelect = ({ into, rows }: Written, source: string): string =>
  `${into} ${rows.map(row => `select ${row} from ${source}`).join(' union all ')}`

/** The last one is the statement, the others its parts. */
function together(parts: readonly string[], written: readonly Written[], source: string): string {
  const inserts = written.map(one => bySelect(one, source))
  const named = inserts.slice(0, -1).map((text, n) => `w${n} as (${text})`)
  return `with ${[...parts, ...named].join(',\n')}\n${inserts.at(-1)}`
}

const AGENT = `'agent_bench_' || :agent`

const ruling = `select a.id, a.status, p.id as policy_id, p.version, p.auto_approve_limit_cents, p.require_attestation
  from agents a
  left join policies p on (p.owner_id, p.mode, p.id) = (a.owner_id, a.mode, a.policy_id) and p.deleted_at is null
  where a.owner_id = :owner and a.mode = 'test' and a.id = ${AGENT} for share of a`

const declaring: readonly Written[] = [
  {
    into: insert.intent,
    rows: [
      `'intent_' || uuidv7(), :owner, 'test', now(), now(), ${AGENT}, 'approved', 950, 'EUR', 'Bookshop',
        'A paper on caching', now() + interval '1 day', now(),
        '{"type":"policy","id":"policy_bench_1","name": null}'::jsonb, '${DECISION}'::jsonb, '{}'::jsonb`,
    ],
  },
  { into: insert.event, rows: ['intent.created', 'intent.approved'].map(name => eventOf(name, AGENT)) },
  {
    into: insert.audit,
    rows: ['intent.created', 'intent.approved'].map(name => auditOf(name, AGENT, 'intents.create')),
  },
  { into: insert.kept, rows: [keptOf('intents.create')] },
]

/** Declaring an intent that nobody is asked about, without us; of so many agents. */
export const declaringAlone = (agents: number): Alone => ({
  draw: [`agent random(1, ${agents})`, KEY],
  scripts: {
    statements: [...begin, knownOf('intents.create'), ruling, ...declaring.map(byValues), 'commit'].join(
      ';\n',
    ),
    'one statement': together(
      [
        `k as (${knownOf('intents.create')})`,
        `a as (${ruling})`,
        `agreed as (select from a where status = 'active' and not require_attestation
          and auto_approve_limit_cents >= 950 and not exists (select from k))`,
      ],
      declaring,
      'agreed',
    ),
  },
})

const INTENT = `'intent_bench_' || :n`
const AGENT_OF = `'agent_bench_' || 1 + :n % ${AGENTS}`

const agentLocked = `select a.id from agents a where a.owner_id = :owner and a.mode = 'test'
  and a.id = (select agent_id from intents where owner_id = :owner and mode = 'test' and id = ${INTENT}) for share of a`
const waiting = `select i.*, a.status as agent_status, coalesce(p.require_attestation, false) as attested
  from intents i
  join agents a on (a.owner_id, a.mode, a.id) = (i.owner_id, i.mode, i.agent_id)
  left join policies p on (p.owner_id, p.mode, p.id) = (a.owner_id, a.mode, a.policy_id) and p.deleted_at is null
  where i.owner_id = :owner and i.mode = 'test' and i.id = ${INTENT} for update of i`
const approved = `update intents set status = 'approved', updated_at = now(), decided_at = now(),
  decided_by = '{"type":"key","id":"key_bench","name": null}'::jsonb where id = ${INTENT}`

const approving: readonly Written[] = [
  { into: insert.event, rows: [eventOf('intent.approved', AGENT_OF)] },
  { into: insert.audit, rows: [auditOf('intent.approved', AGENT_OF, 'intents.approve')] },
  { into: insert.kept, rows: [keptOf('intents.approve')] },
  {
    into: insert.outbox,
    rows: [
      `uuidv7()::text, :owner, 'test', 'intent', false, 'intent/' || ${INTENT},
        '{"id":"intent_01kagp6mybf2ktzn5dx2q8fjzd","mode":"test","agentId":"agent_bench_1"}'::jsonb, now(), now()`,
    ],
  },
]

/** Approving an intent that waits, each of them once, without us. */
export const approvingAlone = (first: number): Alone => ({
  draw: [...inTurn(first), KEY],
  scripts: {
    statements: [
      ...begin,
      knownOf('intents.approve'),
      agentLocked,
      waiting,
      approved,
      ...approving.map(byValues),
      'commit',
    ].join(';\n'),
    'one statement': together(
      [
        `k as (${knownOf('intents.approve')})`,
        `a as (${agentLocked})`,
        `i as (${waiting})`,
        `changed as (${approved} and exists (select from a) and exists (select from i where status = 'created')
          and not exists (select from k) returning id)`,
      ],
      approving,
      'changed',
    ),
  },
})
