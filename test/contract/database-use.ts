import { afterAll, describe, expect, test } from '@jest/globals'
import type { Registered } from '../../src/kernel/contract/operation.ts'
import { printLine } from '../../src/platform/output.ts'
import { cardNetworkApi } from '../../src/surface/sandbox/card-network-api.ts'
import { type cases, isWrite } from '../support/contract/contract.ts'
import type { TestService } from '../support/harness.ts'
import type { SqlRecorder } from '../support/sql-recorder.ts'

/**
 * What each kind of operation may cost. A write opens, reads and locks what it needs, writes, and commits; an outside
 * call does that twice, and may cost no more. An idempotency key costs nothing more: it is looked up with the opening.
 */
const MOST_ROUND_TRIPS = { read: 3, plain: 7, hot: 7, outside: 7 }

/** The operations that cost more, and why. */
const EXCEPTIONS: Readonly<Record<string, number>> = {
  // The lock that lets one run at a time, the accounts, 50,000 entries at a time, and the end that frees the lock.
  'ledger.verify': 4,
  // The same, after the owner whom the operator names was found; this owner has no entries.
  'ledger.verifyOwner': 4,
  // The same of an audit trail: newest checkpoint, entries, checkpoints, tree, what was added, what was purged, whether its keeper
  // purged it, and the tail.
  'audit.verify': 14,
  // The event that tells of it, then the entries, their places and the checkpoint: it is read while it is sent.
  'audit.export': 12,
  // All that a payment is decided by, asked at the same time: each answer counts, although one waits for two of them in turn.
  'authorizations.simulate': 11,
  // It reads which wallet the intent pays, then pays as transfers.create does.
  'checkout.execute': 8,
  // It finds the wallet and its holder, then declares an intent as intents.create does.
  'paymentTokens.create': 9,
  // Between its two transactions the payer's side is charged in two of its own, and the payee's side books it in another one.
  'paymentTokens.charge': 16,
  // It finds the intent of the token, cancels it as intents.cancel does, and the token with it.
  'paymentTokens.revoke': 9,
  // Passkeys and people are locked, so that an owner stays; then links, passkeys, a recovery, devices’ keys and pushes end with it.
  'people.remove': 12,
  // The owner's consent is read before anything is locked; then it is used up, and the link before it ends.
  'people.link': 8,
  // It finds the representative and the onboarding that names them, and locks that.
  'kyc.create': 9,
  // The operator names no owner: that is found first, and again for the onboarding that the person belongs to.
  'kyc.approve': 10,
  'kyc.reject': 10,
  // The first money that belongs to nobody opens the account for it.
  'rails.read': 8,
  // It asks a merchant for the money of a payment by card: the refund is committed, the processor called, and what it has answered noted under the locks.
  'refunds.create': 10,
  // The dispute, its payment and refunds, from when on the trail is complete, and what has happened to all of them.
  'disputes.timeline': 6,
  // The deliveries and their subscriptions, and at the same time from when on the trail is complete.
  'webhooks.allDeliveries': 4,
  // Opened, documented, filed and asked about, while the caller waits: a call of the processor for each, between transactions.
  'disputes.submit': 32,
  // All that is known of a payment: each part is found by the one before it.
  'disputes.bundle': 8,
  // A statement for each table that holds something about people, and one for the files: it is read while it is sent.
  'gdpr.archive': 100,
  // Its mandates are suspended.
  'agents.delete': 8,
  // The intents, and one statement for each of the three means of payment.
  'intents.list': 4,
  // The agents, then their counters, balances and policies at the same time, after the tenant's clock.
  'policies.usage': 5,
  // The clock, then at one instant what is not in the sums yet, the sums, and names of agents; the end of that instant counts, too.
  ...Object.fromEntries(
    ['costs', 'allocation', 'savings'].flatMap(name => [
      [`analytics.${name}`, 6],
      [`analytics.${name}Table`, 6],
    ]),
  ),
  'outcomes.summary': 6,
  // The same with limits, runs, the merchants that got most, and those day by day; what is asked at the same time counts apart.
  'analytics.anomalies': 9,
  'analytics.anomaliesTable': 9,
  // The same with who got most, their names, their days and when each was paid first.
  'analytics.merchants': 7,
  'analytics.merchantsTable': 7,
  // The same with refusals, price changes, disputes and the names of agents.
  'intelligence.merchant': 11,
  // The clock and the agent; then at the same time days and merchants at one instant, approved intents, counters, balance and policy.
  'forecast.ofAgent': 10,
  'forecast.ofOwner': 9,
  // What a page of the console shows, asked at the same time and at one instant, and whether the service is well; the page of an agent asks for every limit.
  // On the home page also what was unusual, which takes five.
  'consoleView.home': 20,
  'consoleView.table': 12,
  // The list, then the names of those whom its columns call by them; filters and forms have names, too.
  'consoleView.section': 10,
  'consoleView.record': 27,
  // All that an intent is decided by, and by whom, from whom and how it was paid.
  'consolePages.approve': 12,
  // Where no credit is named the sandbox bank sends one: it is matched and booked, and answered is what came of it.
  'collect.settle': 9,
  // A read, then two transactions around the second call: one decides as a card authorization does, the other settles so.
  // What many payments share costs a single one a few more waits.
  'mpp.pay': 17,
  // The read, and the first of them.
  'mpp.mint': 11,
  // Three transactions, around two calls: the credential is read, its settlement stored, and then ended.
  'settlements.pay': 13,
  'settlements.payByPost': 13,
  'mppMerchants.get': 13,
  'mppMerchants.post': 13,
  // It finds the payment of the credential, and locks and settles that as a card authorization is.
  'mpp.resolve': 8,
  // The message is kept before the answer, and the answer after it; between them operations are asked.
  'canvas.message': 20,
  // What the proposal was made of is read again, and its operation done, between the two transactions.
  'proposals.apply': 16,
  // Moving the clock runs whatever falls due meanwhile.
  'sandbox.advance': Number.POSITIVE_INFINITY,
  // The message is taken by an operation of its own, between the two transactions of the one that sends it.
  ...Object.fromEntries(Object.keys(cardNetworkApi).map(name => [`sandbox.${name}`, 12])),
}

function limitOf({ key, operation }: Registered, isRead: boolean): number {
  const kind: keyof typeof MOST_ROUND_TRIPS = isRead ? 'read' : (operation.run ?? 'plain')
  // The owner's turn is taken before, and given back after.
  const ofTurn = operation.limits?.oneAtATime ? 2 : 0
  return (EXCEPTIONS[key] ?? MOST_ROUND_TRIPS[kind]) + ofTurn
}

/** Values are written in quotes or as numbers; ids and secrets look like these. */
const VALUE = /_[0-9a-hjkmnp-tv-z]{26}|@example|[A-Z]{2}\d{2}[A-Z0-9]{11,}|\d{4}-\d{2}-\d{2}|[0-9a-f]{32}/

/** Tables of the platform, and queues that serve all tenants. */
const CROSS_TENANT_TABLES = new Set(['incoming_credits', 'sepa_files', 'sepa_messages', 'outbox', 'pushes'])

/** What has expired is removed of all tenants. Look-ups that find the tenant: by a secret, by the operator's id, by what a payer was given, by a bank's reference, by a card, by a passkey; the operator’s lists; and a count of all. */
const CROSS_TENANT =
  /^\s*delete from \w+ where ctid = any\(array\(|\bs\.hash = \$1|from fundings where id = \$1|from people p |from onboardings (o |where true)|from kyc_(submissions|documents) (k |where true)|from disputes d |from gdpr_deletions d\s|from payment_requests (one )?where (one\.)?id = |where end_to_end_id = any|where processor_card_id = \$1|credential_id = \$1$|backlog_after is not null/

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Alias?: string
  readonly Plans?: readonly PlanNode[]
  readonly [property: string]: unknown
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** The tables of tenants that a plan scans without a condition on the owner, in the scan or in a join with it. */
function tablesWithoutOwner(plan: PlanNode | undefined, tenantTables: ReadonlySet<string>): string[] {
  if (!plan) return []
  const nodes = nodesOf(plan)
  const conditionsOf = (node: PlanNode): string =>
    Object.entries(node)
      .filter(([name]) => /Cond$|Filter$/.test(name))
      .map(([, condition]) => String(condition))
      .join(' ')
  const everyCondition = nodes.map(conditionsOf).join(' ')
  return nodes.flatMap(node => {
    const { 'Relation Name': table = '', Alias: alias = '' } = node
    if (!/Scan$/.test(node['Node Type']) || !tenantTables.has(table)) return []
    const isBound = conditionsOf(node).includes('owner_id') || everyCondition.includes(`${alias}.owner_id`)
    return isBound ? [] : [table]
  })
}

/** Tests what the service has sent to PostgreSQL while these operations were called. */
export function testDatabaseUse(
  called: typeof cases,
  { sql }: Pick<TestService, 'sql'>,
  recorder: SqlRecorder,
): void {
  describe('PostgreSQL was sent', () => {
    test('no value in the text of a prepared statement', () => {
      expect(recorder.prepared.size).toBeGreaterThan(100)
      expect([...recorder.prepared].filter(text => VALUE.test(text))).toEqual([])
    })

    test('no statement that reaches a tenant’s rows without its owner', async () => {
      const tables = await sql<{ name: string }>(
        `select c.table_name as name from information_schema.columns c
         join information_schema.columns m using (table_schema, table_name)
         where c.table_schema = 'public' and c.column_name = 'owner_id' and m.column_name = 'mode'`,
      )
      const tenantTables = new Set(
        tables.map(({ name }) => name).filter(name => !CROSS_TENANT_TABLES.has(name)),
      )
      const found: string[] = []
      for (const text of recorder.prepared) {
        if (CROSS_TENANT.test(text) || text.startsWith('notify')) continue
        const rows = await sql<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
          `explain (generic_plan, format json) ${text}`,
        )
        const tablesWithout = tablesWithoutOwner(rows[0]?.['QUERY PLAN'][0]?.Plan, tenantTables)
        if (tablesWithout.length > 0) found.push(`${tablesWithout.join(', ')}: ${text}`)
      }
      expect(found).toEqual([])
    })

    test('nothing that is not prepared, but what has no values', () => {
      const others = [...recorder.simple].filter(
        text => !/^(begin|commit|rollback|listen|notify)\b/.test(text),
      )
      // A process looks at its start whether the schema is its own.
      expect(
        others.filter(
          text =>
            !/ from (migration_checksums|applied_functions)$|to_regclass|journal_is_ahead_by/.test(text),
        ),
      ).toEqual([])
    })
  })

  afterAll(() => {
    const dearest = [...recorder.roundTrips].toSorted(([, a], [, b]) => b - a).slice(0, 10)
    printLine(
      `Most round trips to PostgreSQL: ${dearest.map(([key, count]) => `${key} ${count}`).join(', ')}`,
    )
  })

  describe.each(called)('%s', (key, registered) => {
    const isRead = !isWrite(registered) || registered.operation.run === 'read'
    test('waits for PostgreSQL no more often than its kind of operation may', () => {
      expect(recorder.roundTrips.get(key)).toBeLessThanOrEqual(limitOf(registered, isRead))
    })
  })
}
