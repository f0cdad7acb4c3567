import { intentMerchantKey } from '../../../src/control/merchants/index.ts'
import { CARD_CENTS, type Cover } from './card-rows.ts'
import { DECISION } from './intent-rows.ts'
import { COUNTERS, PERIODS, profiled, REQUEST, rulingOf, usual } from './intent-sql.ts'
import { byValues, eventsOf, type Insert, transaction } from './journal-sql.ts'
import { accountsLocked, holdSql } from './ledger-sql.ts'
import { inOrder, KEY, type SqlEquivalent } from './pgbench.ts'

const TENANT = `owner_id = :owner and mode = 'test'`
const AGENT = `'agent_bench_' || :agent`
const CARD = `'card_bench_' || :agent`
const AUTHORIZATION = `'cardauth_' || :key`
const TRANSACTION = `'txn_' || :key`
const REF = `'iauth_' || :key`
const MESSAGE = `'message_' || :key`
const INTENT = `'intent_card_' || :n`

/** The spaces after colons keep pgbench from taking them for variables. */
const EVENT_DATA = `{"transactionId":"txn_01kagp6mybf2ktzn5dx2q8fjzd","agentId":"agent_bench_1","intentId": null,
  "amountEuros":9.5,"merchant":"Bookshop","status":"authorization"}`
const FACTS = `{"requests":[{"increment": 0,"requested":"950","approved":"950"}],"outcome":[],"reversals":[],"clearings":[],
  "refunds":[],"confirmed": null,"expired": false}`
const WITNESSES = `[{"type":"card_authorization","id":"message_1","at":"2026-11-20T09:30:00.000Z"}]`

const [KEY_OF_ANY, UNMET] = [intentMerchantKey('Bookshop'), intentMerchantKey('Another shop')]
/** An intent is found by a key of its row: that of its merchant. */
const keyOf: Readonly<Record<Cover, string>> = {
  covered: `(select merchant_key from intents where ${TENANT} and id = ${INTENT})`,
  uncovered: `'${UNMET}'`,
}

const CARD_TERMS = `select * from card_terms where ${TENANT} and id = ${CARD}`
const NUMBER = `select n.*, c.usage, c.wallet_id from card_numbers n
  join cards c on (c.owner_id, c.mode, c.id) = (n.owner_id, n.mode, n.card_id)
  where n.owner_id = :owner and n.mode = 'test' and n.id = 'cardnumber_bench_' || :agent`
const BY_REF = `select * from card_authorizations where ${TENANT} and processor_ref = ${REF}`
const AWAITED = `select * from card_authorizations where ${TENANT} and agent_id = ${AGENT}
  and merchant_key = '${KEY_OF_ANY}' and processor_ref is null and status = 'confirmed' order by id limit 1`
const MESSAGE_BY_ID = `select * from card_messages where ${TENANT} and id = ${MESSAGE}`
const payable = (cover: Cover): string => `select id from intents where ${TENANT} and agent_id = ${AGENT}
  and merchant_key = ${keyOf[cover]} and hold_cents >= ${CARD_CENTS} and status = 'approved' and payment_id is null
  and expires_at > now() and (card_id is null or card_id = ${CARD}) and beneficiary_id is null and wallet_id is null
  order by card_id, hold_cents, expires_at limit 1`

const countersLocked = (causes: string): string =>
  `select * from open_limits(:owner, 'test', array[${AGENT}, ${CARD}], current_date, ${causes}, '{}')`
const countersOf: Readonly<Record<Cover, string>> = {
  covered: countersLocked(`array[${AGENT}], '{intent}', array[${INTENT}]`),
  uncovered: countersLocked(`'{}', '{}', '{}'`),
}

/** Only for a payment on an intent: its reservation, its hold, and the locked intent. */
const OF_INTENT = [
  `select * from reservations where ${TENANT} and cause_type = 'intent' and cause_id = ${INTENT}`,
  `select * from ledger_holds where ${TENANT} and reference_type = 'intent' and reference_id = ${INTENT}`,
  `select * from intents where ${TENANT} and id = ${INTENT} for no key update`,
]

const counted = (subjects: string): string => `update counters
  set reserved_cents = reserved_cents + ${CARD_CENTS}, reserved_uses = reserved_uses + (period = 'all')::int,
    last_spend_at = now()
  where ${TENANT} and subject in (${subjects}) and period in ${PERIODS}`

/** The limits of an intent were reserved when it was approved, so only the card's are left. */
const subjectsOf: Readonly<Record<Cover, string>> = { covered: CARD, uncovered: `${AGENT}, ${CARD}` }

const writtenFor = (cover: Cover): readonly Insert[] => [
  {
    into: `insert into transactions (id, owner_id, mode, created_at, updated_at, agent_id, card_id, intent_id, wallet_id,
      type, status, currency, amount_cents, refunded_cents, merchant, mcc, country, witnesses)`,
    rows: [
      `${TRANSACTION}, :owner, 'test', now(), now(), ${AGENT}, ${CARD}, ${intentOf(cover)}, 'wallet_bench_' || :agent,
        'card', 'authorization', 'EUR', ${CARD_CENTS}, 0, 'Bookshop', '5942', 'DE', '${WITNESSES}'::jsonb`,
    ],
  },
  {
    into: `insert into card_authorizations (id, owner_id, mode, created_at, updated_at, agent_id, card_id, processor_ref,
      status, source, wallet_id, intent_id, amount_cents, approved_cents, held_cents, captured_cents, cleared_cents,
      refunded_cents, merchant, merchant_key, descriptor, mcc, country, facts, decision, expires_at, transaction_id)`,
    rows: [
      `${AUTHORIZATION}, :owner, 'test', now(), now(), ${AGENT}, ${CARD}, ${REF}, 'authorized',
        '${cover === 'covered' ? 'intent' : 'wallet'}', 'wallet_bench_' || :agent, ${intentOf(cover)}, ${CARD_CENTS},
        ${CARD_CENTS}, ${CARD_CENTS}, 0, 0, 0, 'Bookshop', '${KEY_OF_ANY}', 'Bookshop', '5942', 'DE', '${FACTS}'::jsonb,
        '${DECISION}'::jsonb, now() + interval '7 days', ${TRANSACTION}`,
    ],
  },
  {
    into: `insert into card_messages (id, owner_id, mode, created_at, updated_at, agent_id, card_id, authorization_id,
      kind, digest, answer_status, answer_headers, answer_body)`,
    rows: [
      `${MESSAGE}, :owner, 'test', now(), now(), ${AGENT}, ${CARD}, ${AUTHORIZATION}, 'authorization',
        '0123456789abcdef0123456789abcdef0123456789a', 200, '{"content-type":"application/json"}'::jsonb,
        '{"kind":"approved","approvedCents":"950","askedCents":"950"}'`,
    ],
  },
  {
    into: `insert into decisions (id, owner_id, mode, created_at, updated_at, agent_id, subject_type, subject_id,
      policy_id, policy_version, request, counters, result)`,
    rows: [
      `'decision_' || :key, :owner, 'test', now(), now(), ${AGENT}, 'card_authorization', ${AUTHORIZATION},
        'policy_bench_1', 1, '${REQUEST}'::jsonb, '${COUNTERS}'::jsonb, '${DECISION}'::jsonb`,
    ],
  },
  {
    into: `insert into reservations (owner_id, mode, cause_type, cause_id, subjects, day, term, amount_cents,
      reserved_cents, spent_cents)`,
    rows: [
      `:owner, 'test', 'card_increment', ${AUTHORIZATION} || ': 0', array[${subjectsOf[cover]}], current_date, now(),
        ${CARD_CENTS}, ${CARD_CENTS}, 0`,
    ],
  },
  ...eventsOf('authorizations.take', ['transaction.created'], { agent: AGENT, data: EVENT_DATA }),
]

const intentOf = (cover: Cover): string => (cover === 'covered' ? INTENT : 'null')

/** A payment on an intent keeps the intent's hold; another one gets its own. */
const changesOf: Readonly<Record<Cover, readonly string[]>> = {
  covered: [
    `update intents set payment_id = ${AUTHORIZATION}, updated_at = now() where ${TENANT} and id = ${INTENT}`,
  ],
  uncovered: [
    profiled(AGENT),
    `select ${holdSql(`'account_bench_' || :agent`, AUTHORIZATION, CARD_CENTS)} as at`,
  ],
}

/** One authorization at a time in SQL, reduced to the indispensable statements. */
export const authorizeInSql = (cover: Cover, agents: number, first: number): SqlEquivalent => ({
  draw:
    cover === 'covered'
      ? [...inOrder(first), KEY, `agent 1 + :n % ${agents}`]
      : [KEY, `agent random(1, ${agents})`],
  scripts: {
    statements: transaction([
      rulingOf(AGENT),
      CARD_TERMS,
      NUMBER,
      BY_REF,
      AWAITED,
      MESSAGE_BY_ID,
      payable(cover),
      countersOf[cover],
      accountsLocked([`'wallet_bench_' || :agent`]),
      usual(AGENT),
      ...(cover === 'covered' ? OF_INTENT : []),
      ...writtenFor(cover).map(byValues),
      counted(subjectsOf[cover]),
      ...changesOf[cover],
    ]),
  },
})
