import { afterAll, describe, expect, test } from '@jest/globals'
import type { RegisteredOperation, RunMode } from '../../src/kernel/contract/operation.ts'
import { printLine } from '../../src/platform/output.ts'
import { cardNetworkApi } from '../../src/surface/sandbox/card-network-api.ts'
import { type cases, isWrite } from '../support/contract/contract.ts'
import type { TestService } from '../support/harness.ts'
import type { SqlRecorder } from '../support/sql-recorder.ts'

/**
 * The maximum cost of each kind of operation. A write opens, reads and locks what it needs, writes, and
 * commits, a hot one the last two at once; an external call does that twice, and must cost no more. An idempotency key costs nothing more: it
 * is looked up with the opening.
 */
const MOST_ROUND_TRIPS: Readonly<Record<RunMode, number>> = {
  read: 3,
  plain: 7,
  hot: 6,
  external: 7,
  'hot-external': 7,
}

/** The more expensive operations, with the reason. */
const EXCEPTIONS: Readonly<Record<string, number>> = {
  // The lock that serializes runs, the accounts, 50,000 entries at a time, and the end that releases the
  // lock.
  'ledger.verify': 4,
  // The same, after finding the owner that the operator names; this owner has no entries.
  'ledger.verifyOwner': 4,
  // The same for an audit trail: newest checkpoint, entries, checkpoints, tree, additions, purged entries,
  // whether its keeper purged them, and the tail.
  'audit.verify': 14,
  // Its own event, then the entries, their positions and the checkpoint, read while it is sent.
  'audit.export': 12,
  // Everything that decides a payment, queried concurrently: each answer counts, although at most two are in
  // sequence.
  'authorizations.simulate': 11,
  // It reads which wallet the intent pays, then pays as transfers.create does.
  'checkout.execute': 8,
  // It finds the wallet and its holder, then declares an intent as intents.create does.
  'paymentTokens.create': 9,
  // Between its two transactions the payer is charged in two others, and the payee posts it in another one.
  'paymentTokens.charge': 16,
  // It finds the token's intent, cancels it as intents.cancel does, and the token with it.
  'paymentTokens.revoke': 9,
  // Passkeys and people are locked, so that an owner stays; then links, passkeys, a recovery, deputies, devices' keys,
  // pushes, channels and the assistants of the person end with it, as does the address in the change that let them in; and
  // what waits for several people, intents and card requests, looks who is left.
  'people.remove': 19,
  // What its cards can be charged is asked beside its payments: neither waits for the other.
  'agentTokens.get': 4,
  'agentTokens.listAll': 4,
  // The policies in force are compared with what was signed, since they may ask others by now.
  'changeRequests.approve': 8,
  // The owner's consent is read before any lock; then it is consumed, and the earlier link ends.
  'people.link': 8,
  // The same for the identity provider.
  'sso.update': 8,
  // The same, and the provider's metadata are read between its two transactions.
  'sso.create': 8,
  // The attempt is found and used up. Then passkeys, people and the provider are locked, since roles may change;
  // subject, person and invitation are read; a session begins, and the browser's earlier one ends.
  'sso.signIn': 14,
  // It finds the representative and the onboarding that lists them, and locks that.
  'kyc.create': 9,
  // The operator names no owner: it is found first, and again for the person's onboarding.
  'kyc.approve': 10,
  'kyc.reject': 10,
  // The first money without an owner opens the account for it.
  'rails.read': 8,
  // It finds the file, the wallet and the transfer, which it restores if it is lost; then it submits the transfer as
  // transfers.submit does, and lists the debit as taken.
  'rails.assign': 11,
  // It requests a refund from a merchant: the refund is committed, the processor called, and its answer
  // recorded under the locks.
  'refunds.create': 10,
  // The dispute, its payment and refunds, since when the trail is complete, and their events.
  'disputes.timeline': 6,
  // The deliveries and their subscriptions, and concurrently since when the trail is complete.
  'webhooks.allDeliveries': 4,
  // Opened, documented, filed and polled while the caller waits: a call of the processor for each, between
  // transactions.
  'disputes.submit': 32,
  // Everything about a payment: each part is found by the previous one.
  'disputes.bundle': 8,
  // A statement for each table with personal data, and one for the files, read while it is sent.
  'gdpr.archive': 100,
  // Its mandates are suspended, and changes about it that wait for several people end.
  'agents.delete': 9,
  // The connections, and concurrently their mandates, what is counted for those and for tokens, and last uses.
  'connectedAssistants.list': 4,
  'connectedAssistants.get': 4,
  // The intents, and one statement for each of the three means of payment.
  'intents.list': 4,
  // The agent, the template and the agent's policy; then what waits for several people, intents and card requests.
  'policies.assign': 8,
  // The agents, then concurrently their counters, balances and policies, after the tenant's clock.
  'policies.usage': 5,
  // The clock, then at one instant what is not in the sums yet, the sums, and names of agents; the end of
  // that instant counts, too.
  'analytics.costs': 6,
  'analytics.allocation': 6,
  'outcomes.summary': 6,
  // The same with limits, runs, the top merchants, and those day by day; concurrent queries count separately.
  'analytics.anomalies': 9,
  // The same with the top payees, their names, their days and first payments.
  'analytics.merchants': 7,
  // The same with refusals, price changes, disputes and the names of agents.
  'intelligence.merchant': 11,
  // The clock and the agent; then concurrently days and merchants at one instant, approved intents, counters,
  // balance and policy.
  'forecast.ofAgent': 10,
  'forecast.ofOwner': 9,
  // The contents of a console page, queried concurrently and at one instant, and the service's health. Home answers
  // five questions: balances, spend and budget, seven kinds of decisions, anomalies and limits, webhooks.
  'consoleView.home': 31,
  'consoleView.table': 12,
  // The list, then the names in its columns; filters and forms have names, too.
  'consoleView.section': 10,
  // An agent's page reads every limit, and who did what.
  'consoleView.record': 32,
  // Everything that decides an intent, and by whom, from whom and how it was paid.
  'consolePages.approve': 12,
  // Without a named credit the sandbox bank sends one, which is matched and posted, and its outcome returned.
  'collect.settle': 9,
  // Five transactions around two calls: the order is recorded, one decides as a card authorization does, one records that
  // the credential leaves, one settles, one reads the answer. Batching costs a single payment a few more waits.
  'mpp.pay': 23,
  // The first two, and the last.
  'mpp.mint': 15,
  // Three transactions around two calls: the credential is read, its settlement stored, and then ended.
  'settlements.pay': 13,
  'settlements.payByPost': 13,
  'mppMerchants.get': 13,
  'mppMerchants.post': 13,
  // It finds the payment of the credential, and locks and settles it like a card authorization.
  'mpp.resolve': 8,
  // The message is stored before the answer, and the answer after it; between them operations run.
  'canvas.message': 20,
  // The proposal's sources are read again, and its operation runs between the two transactions.
  'proposals.apply': 16,
  // Advancing the clock runs everything that falls due.
  'sandbox.advance': Number.POSITIVE_INFINITY,
  // The message is handled by another operation, between the two transactions of the one that sends it.
  ...Object.fromEntries(Object.keys(cardNetworkApi).map(name => [`sandbox.${name}`, 12])),
}

function limitOf({ key, operation }: RegisteredOperation, isRead: boolean): number {
  const kind: RunMode = isRead ? 'read' : (operation.run ?? 'plain')
  // The owner's turn is acquired before and released after.
  const ofTurn = operation.limits?.oneAtATime ? 2 : 0
  return (EXCEPTIONS[key] ?? MOST_ROUND_TRIPS[kind]) + ofTurn
}

/** Values are in quotes or numbers; ids and secrets look like these. */
const VALUE = /_[0-9a-hjkmnp-tv-z]{26}|@example|[A-Z]{2}\d{2}[A-Z0-9]{11,}|\d{4}-\d{2}-\d{2}|[0-9a-f]{32}/

/** Tables of the platform, and queues that serve all tenants. */
const CROSS_TENANT_TABLES = new Set(['incoming_credits', 'sepa_files', 'sepa_messages', 'outbox', 'pushes'])

/**
 * Expired rows of all tenants are removed together. Look-ups that find the tenant: by a secret, by the
 * operator's id, by a payer's reference, by a bank's reference, by a card, by a passkey; the operator's
 * lists; a count of all, the newest event of the journal, and the age of what is oldest of all.
 */
const CROSS_TENANT =
  /^\s*delete from \w+ where ctid = any\(array\(|\bs\.hash = \$1|from fundings where id = \$1|from people p |from onboardings (o |where true)|from kyc_(submissions|documents) (k |where true)|from disputes d |from gdpr_deletions d\s|from payment_requests (one )?where (one\.)?id = |where end_to_end_id = (any|\$1)|where processor_card_id = \$1|credential_id = \$1$|backlog_after is not null|from doubtful_money where true |from journal_origin\) as transactions$|clock_timestamp\(\) - (e\.recorded_at|first\.since|min\(first\.due_at\))\)/

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Alias?: string
  readonly Plans?: readonly PlanNode[]
  readonly [property: string]: unknown
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** The tenant tables that a plan scans without a condition on the owner, in the scan or in a join with it. */
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

/** Tests the statements that the service sent to PostgreSQL for these operations. */
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
        text => !/^(begin|commit|rollback|set local|listen|notify)\b/.test(text),
      )
      // A process checks at its start whether the schema is its own.
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
