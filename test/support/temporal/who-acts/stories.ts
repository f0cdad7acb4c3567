import { times as atOnce } from '../../at-once.ts'
import { aCardRequest, getRequest } from '../../cards/card-requests.ts'
import { aCard } from '../../cards/cards.ts'
import { aDispute } from '../../commerce/disputes.ts'
import { answerWith, type Conduct, demand, type Merchant } from '../../commerce/merchant.ts'
import { payByCard } from '../../commerce/refunds.ts'
import { aRequest } from '../../commerce/requests.ts'
import { type Receiver, respondWith } from '../../delivery/receiver.ts'
import {
  aBeneficiary,
  aFundedAgent,
  anAgent,
  anAgentUnder,
  anIntent,
  aPolicy,
  aSepaTransfer,
  aWallet,
  aWebhook,
  bodyOf,
  type TestClient,
} from '../../factories.ts'
import { submitted } from '../../identity/company.ts'
import { aSubmission } from '../../identity/kyc.ts'
import { advance, DAY } from '../../sandbox.ts'
import { DEADLINE_MS, until } from '../../until.ts'
import type { OwnerOfPrograms, Programs } from './programs.ts'
import { type Step, step } from './steps.ts'

export interface Stage extends Programs {
  readonly merchant: Merchant
  readonly receiver: Receiver
}

/** Ten requests at a time: the figures are of steps, and a crowd of callers would delay them. */
async function times<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  for (let first = 0; first < count; first += 10)
    made.push(...(await atOnce(Math.min(10, count - first), at => make(first + at))))
  return made
}

/** A record whose steps are due. */
export interface Due {
  readonly id: string
  /** The runs that take its steps. */
  runs(): Promise<readonly string[]>
}

interface Prepared {
  /** The runs that wait already. */
  readonly waiting: readonly string[]
  /** Makes the steps due at about the same time. */
  makeDue(): Promise<readonly Due[]>
}

/** Records of an owner that come to these steps, in order. */
export interface WhoActsStory {
  readonly flow: string
  readonly steps: readonly Step[]
  prepare(stage: Stage, owner: OwnerOfPrograms, count: number): Promise<Prepared>
  /** SQL: those of the ids in `$1` whose steps are taken. */
  readonly done: string
  /** Its events since its steps are due, in order, by any actor. `payment.updated` tells of ways, not of ends. */
  readonly events: readonly string[]
  /** Its deadline is moved by a test clock, and kept in real time. */
  readonly inRealTime?: true
}

const doneIn = (table: string, condition: string): string =>
  `select id from ${table} where id = any($1) and ${condition}`

/** How long before their deadline the records are left to themselves. */
const BEFORE_SECONDS = 5

/** Moves the clock of the owner until shortly before what was begun then is due. */
function nearTo(client: TestClient, afterSeconds: number, begun: number): Promise<unknown> {
  const passed = Math.ceil((performance.now() - begun) / 1_000)
  return advance(client, { seconds: afterSeconds - passed - BEFORE_SECONDS })
}

/** Moves the clock of the owner until shortly before the first of these records is due. */
async function nearToFirst(
  { sql, client }: Pick<Stage, 'sql'> & { readonly client: TestClient },
  table: string,
  due: string,
  ids: readonly string[],
): Promise<void> {
  const [first] = await sql<{ seconds: number }>(
    `select extract(epoch from min(t.${due}) - now())::float8 - coalesce(max(c.offset_ms), 0) / 1000.0 as seconds
     from ${table} t left join tenant_clocks c on (c.owner_id, c.mode) = (t.owner_id, t.mode) where t.id = any($1)`,
    [ids],
  )
  await advance(client, { seconds: Math.floor(first?.seconds ?? 0) - BEFORE_SECONDS })
}

const oneRun = (process: string, ids: readonly string[]): Due[] =>
  ids.map(id => ({ id, runs: async () => [`${process}/${id}`] }))

/** Records that wait for a deadline. */
const waitingFor = async (
  client: TestClient,
  process: string,
  afterSeconds: number,
  make: () => Promise<readonly { readonly id: string }[]>,
): Promise<Prepared> => {
  const begun = performance.now()
  const due = oneRun(
    process,
    (await make()).map(({ id }) => id),
  )
  return {
    waiting: due.map(({ id }) => `${process}/${id}`),
    async makeDue() {
      await nearTo(client, afterSeconds, begun)
      return due
    },
  }
}

const intentExpires: WhoActsStory = {
  flow: 'intent',
  steps: [step('expireIntent')],
  events: ['intent.expired'],
  done: doneIn('intents', `status = 'expired'`),
  async prepare(_, { client }, count) {
    const { id } = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
    return waitingFor(client, 'intent', 3_600, () =>
      times(count, () => anIntent(client, id, { amountEuros: 11, expiresInMinutes: 60 })),
    )
  },
}

const cardRequestExpires: WhoActsStory = {
  flow: 'card-request',
  steps: [step('expireCardRequest')],
  events: ['card_limit_request.updated'],
  done: doneIn('card_requests', `status = 'expired'`),
  prepare: (_, { client }, count) =>
    waitingFor(client, 'card-request', 3 * DAY, () =>
      times(count, async () => aCardRequest(client, (await aFundedAgent(client)).id)),
    ),
}

const cardIsIssued: WhoActsStory = {
  flow: 'card-request',
  steps: [step('carryOutCardRequest'), step('issueCard')],
  events: [
    'card_limit_request.updated',
    'card.created',
    'card.issued',
    'card.activated',
    'card_limit_request.updated',
  ],
  done: doneIn('card_requests', `status = 'issued'`),
  async prepare(_, { client }, count) {
    const requests = await times(count, async () => aCardRequest(client, (await aFundedAgent(client)).id))
    const runsOf = async (id: string) => [
      `card-request/${id}`,
      `card/${(await getRequest(client, id)).cardId}`,
    ]
    return {
      waiting: requests.map(({ workflowId }) => workflowId),
      async makeDue() {
        await times(count, at =>
          bodyOf(client.cardRequests.approve({ params: { id: String(requests[at]?.id) }, body: {} })),
        )
        return requests.map(({ id }) => ({ id, runs: () => runsOf(id) }))
      },
    }
  },
}

const transferIsPaid: WhoActsStory = {
  flow: 'transfer',
  steps: [step('verifyPayee'), step('submitPayment')],
  events: ['transfer.completed'],
  done: doneIn('transfers', `status = 'completed'`),
  async prepare(_, { client }, count) {
    const { id: fromWalletId } = await aWallet(client, 12.5 * count)
    const { id: beneficiaryId } = await aBeneficiary(client)
    return {
      waiting: [],
      async makeDue() {
        const made = await times(count, () => aSepaTransfer(client, { fromWalletId, beneficiaryId }))
        return oneRun(
          'transfer',
          made.map(({ id }) => id),
        )
      },
    }
  },
}

const payeeIsNotConfirmed: WhoActsStory = {
  flow: 'transfer',
  steps: [step('cancelUnconfirmed')],
  events: ['transfer.failed'],
  done: doneIn('transfers', `status = 'cancelled'`),
  async prepare({ sql }, { client }, count) {
    const { id: fromWalletId } = await aWallet(client, 12.5 * count)
    const { id: beneficiaryId } = await aBeneficiary(client, { name: 'No Match GmbH' })
    return waitingFor(client, 'transfer', 7 * DAY, async () => {
      const made = await times(count, () => aSepaTransfer(client, { fromWalletId, beneficiaryId }))
      await untilAll(sql, doneIn('transfers', 'payee_check is not null'), made)
      return made
    })
  },
}

/** The bank has taken the payments, and reports them as settled an hour later. */
const railIsAsked: WhoActsStory = {
  flow: 'transfer',
  steps: [step('askRail')],
  events: ['transfer.completed'],
  done: doneIn('transfers', `status = 'completed'`),
  async prepare({ sql }, { client }, count) {
    const { id: fromWalletId } = await aWallet(client, 800 * count)
    const { id: beneficiaryId } = await aBeneficiary(client)
    const made = await times(count, () =>
      aSepaTransfer(client, { fromWalletId, beneficiaryId, amountEuros: 777.01 }),
    )
    await untilAll(sql, doneIn('transfers', `status = 'submitted' and acknowledged_at is not null`), made)
    await advance(client, { minutes: 60 })
    const ids = made.map(({ id }) => id)
    return {
      waiting: ids.map(id => `transfer/${id}`),
      async makeDue() {
        await nearToFirst({ sql, client }, 'deadlines', 'due_at', ids)
        return oneRun('transfer', ids)
      },
    }
  },
}

const requestExpires: WhoActsStory = {
  flow: 'collect',
  steps: [step('expirePaymentRequest')],
  events: ['claim.request.expired'],
  done: doneIn('payment_requests', `status = 'expired'`),
  async prepare(_, { client }, count) {
    const { id } = await aWallet(client)
    return waitingFor(client, 'collect', DAY, () =>
      times(count, () => aRequest(client, id, { expiresInHours: 24 })),
    )
  },
}

const ANSWERING = `
update request_payments set charge = jsonb_set(charge, '{handle}', '"test approved 2030-01"') where request_id = any($1)`

/** The acquirer has not answered for 20 minutes, and does so when it is asked again. */
const refundsAreFollowed: WhoActsStory = {
  flow: 'collect',
  steps: [step('followRefunds')],
  events: ['claim.request.refunded'],
  done: doneIn('payment_requests', `status = 'refunded'`),
  async prepare({ sql }, { client }, count) {
    const made = await times(count, async () => {
      const request = await aRequest(client, (await aWallet(client)).id)
      await payByCard({ sql }, client, request, 'test silent 2030-01')
      return bodyOf(client.collect.refund({ params: { id: request.id }, body: {} }))
    })
    await advance(client, { minutes: 20 })
    const ids = made.map(({ id }) => id)
    await sql(ANSWERING, [ids])
    return {
      waiting: ids.map(id => `collect/${id}`),
      async makeDue() {
        const refunds = await sql<{ id: string }>('select id from refunds where request_id = any($1)', [ids])
        const refundIds = refunds.map(({ id }) => id)
        await nearToFirst({ sql, client }, 'refunds', 'ask_due_at', refundIds)
        return oneRun('collect', ids)
      },
    }
  },
}

/** Payments by card that the merchant has cleared. */
async function paidByCard(
  { sql }: Stage,
  client: TestClient,
  count: number,
  amountEuros = 25,
): Promise<string[]> {
  const cards = await activeCards(sql, client, count)
  return times(count, async at => {
    const cardId = String(cards[at])
    await bodyOf(client.sandbox.clearCard({ body: { cardId, merchant: 'BOOKSHOP BERLIN', amountEuros } }))
    const { data } = await bodyOf(client.transactions.list({ query: { cardId } }))
    return String(data[0]?.id)
  })
}

const refundIsGivenUp: WhoActsStory = {
  flow: 'refund',
  steps: [step('giveUpRefund')],
  events: ['refund.failed'],
  done: doneIn('refunds', `status = 'failed'`),
  async prepare(stage, { client }, count) {
    const payments = await paidByCard(stage, client, count)
    return waitingFor(client, 'refund', 30 * DAY, () => refundsOf(client, payments))
  },
}

const refundsOf = (client: TestClient, payments: readonly string[]) =>
  times(payments.length, at =>
    bodyOf(client.refunds.create({ body: { transactionId: String(payments[at]), reason: 'not_delivered' } })),
  )

/** The processor of the cards does not answer about this amount for an hour. */
const merchantIsAskedAgain: WhoActsStory = {
  flow: 'refund',
  steps: [step('askMerchantForRefund')],
  events: ['refund.completed'],
  done: doneIn('refunds', `status = 'completed'`),
  async prepare(stage, { client }, count) {
    const made = await refundsOf(client, await paidByCard(stage, client, count, 93.03))
    await advance(client, { minutes: 60 })
    const ids = made.map(({ id }) => id)
    return {
      waiting: ids.map(id => `refund/${id}`),
      async makeDue() {
        await nearToFirst({ sql: stage.sql, client }, 'refunds', 'ask_due_at', ids)
        return oneRun('refund', ids)
      },
    }
  },
}

const disputesOf = (client: TestClient, payments: readonly string[]) =>
  times(payments.length, at => aDispute(client, String(payments[at])))

const disputeIsOpened: WhoActsStory = {
  flow: 'dispute',
  steps: [step('callAboutDispute')],
  events: ['dispute.created'],
  done: doneIn('disputes', 'processor_dispute_id is not null'),
  async prepare(stage, { client }, count) {
    const payments = await paidByCard(stage, client, count)
    return {
      waiting: [],
      async makeDue() {
        const made = await disputesOf(client, payments)
        return oneRun(
          'dispute',
          made.map(({ id }) => id),
        )
      },
    }
  },
}

/** A reminder comes the day before. */
const disputeLapses: WhoActsStory = {
  flow: 'dispute',
  steps: [step('followDisputeDeadlines')],
  events: ['dispute.updated', 'dispute.resolved'],
  done: doneIn('disputes', `status = 'lapsed'`),
  async prepare(stage, { client }, count) {
    const made = await disputesOf(client, await paidByCard(stage, client, count))
    await untilAll(stage.sql, disputeIsOpened.done, made)
    const ids = made.map(({ id }) => id)
    return {
      waiting: ids.map(id => `dispute/${id}`),
      async makeDue() {
        await nearToFirst({ sql: stage.sql, client }, 'disputes', 'evidence_due_at', ids)
        return oneRun('dispute', ids)
      },
    }
  },
}

async function cardsOf(client: TestClient, count: number) {
  return times(count, () => aCard(client))
}

const numberIsReplaced: WhoActsStory = {
  flow: 'card',
  // The processor is notified of the new number and of the old one.
  steps: [step('replaceNumber'), step('tellProcessor', 2)],
  events: ['card.rotation_started', 'card.rotated'],
  done: `select card_id as id from card_numbers where card_id = any($1) and status = 'current' and processor_state = 'active'
    and exists (select 1 from card_numbers old where old.card_id = card_numbers.card_id and old.processor_state = 'closed')`,
  async prepare({ sql }, { client }, count) {
    const ids = await activeCards(sql, client, count)
    return {
      waiting: ids.map(id => `card/${id}`),
      async makeDue() {
        await times(count, at => bodyOf(client.cards.rotate({ params: { id: String(ids[at]) }, body: {} })))
        return oneRun('card', ids)
      },
    }
  },
}

const numberRetires: WhoActsStory = {
  flow: 'card',
  steps: [step('endCard'), step('tellProcessor')],
  events: [],
  done: numberIsReplaced.done,
  async prepare({ sql }, { client }, count) {
    const ids = await activeCards(sql, client, count)
    return waitingFor(client, 'card', 3_600, async () => {
      await times(count, at =>
        bodyOf(client.cards.rotate({ params: { id: String(ids[at]) }, body: { overlapMinutes: 60 } })),
      )
      const numbers = `select card_id as id from card_numbers where card_id = any($1) and status = 'retiring'
        and exists (select 1 from card_numbers other where other.card_id = card_numbers.card_id and other.status = 'current' and other.processor_state = 'active')`
      const made = ids.map(id => ({ id }))
      await untilAll(sql, numbers, made)
      return made
    })
  },
}

const cardIsClosed: WhoActsStory = {
  flow: 'card',
  steps: [step('returnPurse'), step('tellProcessor')],
  events: ['card.closed'],
  done: `select c.id from cards c join card_numbers n on n.card_id = c.id
    where c.id = any($1) and c.purse_due_at is null and c.due_at is null and n.processor_state = 'closed'`,
  async prepare({ sql }, { client }, count) {
    const ids = await activeCards(sql, client, count)
    await times(count, at =>
      bodyOf(client.cards.fund({ params: { id: String(ids[at]) }, body: { amountEuros: 5 } })),
    )
    return {
      waiting: ids.map(id => `card/${id}`),
      async makeDue() {
        await times(count, at => bodyOf(client.cards.close({ params: { id: String(ids[at]) }, body: {} })))
        return oneRun('card', ids)
      },
    }
  },
}

/** Cards that the processor has been notified of: nothing of them is under way. */
const TOLD = `select card_id as id from card_numbers where card_id = any($1) and processor_state = 'active'`

async function activeCards(sql: Stage['sql'], client: TestClient, count: number): Promise<string[]> {
  const cards = await cardsOf(client, count)
  await untilAll(sql, TOLD, cards)
  return cards.map(({ id }) => id)
}

/** Payments of one agent at a merchant with these manners; gives their credentials once they have this status. */
async function payments(
  { sql, merchant }: Stage,
  client: TestClient,
  {
    payBy = client,
    count,
    gives,
    status,
  }: { payBy?: TestClient; count: number; gives: Conduct; status: string },
) {
  const { id: agentId } = await anAgentUnder(client, { autoApproveLimitEuros: 1_000 })
  await activeCardsOf(sql, client, agentId)
  const url = merchant.sells(`/${agentId}`, demand(), gives)
  const intents = await times(count, () => anIntent(client, agentId, { merchant: '127.0.0.1' }))
  for (const { id: intentId } of intents) payBy.mpp.pay({ body: { url, intentId } }).catch(() => undefined)
  const areThere = async () => {
    const rows = await sql<{ id: string }>(
      'select id from mpp_credentials where agent_id = $1 and status = $2',
      [agentId, status],
    )
    return rows.length === count ? rows : undefined
  }
  return until('all credentials are there', areThere, DEADLINE_MS + count * 2_000)
}

async function activeCardsOf(sql: Stage['sql'], client: TestClient, agentId: string): Promise<void> {
  const card = await aCard(client, { agentId })
  await untilAll(sql, TOLD, [card])
}

const RUNS_OF_SENT = `
with sent as (
  update mpp_credentials set workflow_id = 'mpp/' || id where id = any($1) returning id, owner_id, mode, agent_id)
insert into outbox (id, owner_id, mode, process, recurs, workflow_id, input, created_at, due_at)
select replace(id, 'mppcredential', 'outbox'), owner_id, mode, 'mpp', false, 'mpp/' || id,
  jsonb_build_object('id', id, 'ownerId', owner_id, 'mode', mode, 'agentId', agent_id), now(), now() from sent`

const merchantDoesNotAnswer: WhoActsStory = {
  flow: 'mpp',
  steps: [step('leaveOutcomeOpen')],
  events: ['mpp.credential.indeterminate'],
  done: doneIn('mpp_credentials', `status = 'indeterminate'`),
  prepare: (stage, { client, at }, count) =>
    waitingFor(client, 'mpp', 120, async () => {
      const api = await stage.anotherApi({ MPP_WORKFLOWS: 'request' })
      const payBy = at(api.url)
      const made = await payments(stage, client, { payBy, count, gives: () => undefined, status: 'sent' })
      api.kill('SIGKILL')
      await api.exit
      // As if the worker of their runs had died while it sent them.
      await stage.sql(RUNS_OF_SENT, [made.map(({ id }) => id)])
      return made
    }),
}

const outcomeStaysOpen: WhoActsStory = {
  flow: 'mpp',
  steps: [step('endUnpaid')],
  events: ['mpp.credential.void'],
  done: doneIn('mpp_credentials', `status = 'void'`),
  prepare: (stage, { client }, count) =>
    waitingFor(client, 'mpp', 31 * DAY, () =>
      payments(stage, client, { count, gives: answerWith(500), status: 'indeterminate' }),
    ),
}

/** The owner says that they were not paid. */
const tokenIsDeleted: WhoActsStory = {
  flow: 'mpp',
  steps: [step('deleteNetworkToken')],
  events: ['mpp.credential.void'],
  done: `select id from mpp_credentials where id = any($1) and status = 'void'
    and not exists (select 1 from deadlines d where d.id = mpp_credentials.id)`,
  async prepare(stage, { client }, count) {
    const made = await payments(stage, client, { count, gives: answerWith(500), status: 'indeterminate' })
    const ids = made.map(({ id }) => id)
    return {
      waiting: ids.map(id => `mpp/${id}`),
      async makeDue() {
        const body = { outcome: 'not_paid' } as const
        await times(count, at => bodyOf(client.mpp.resolve({ params: { id: String(ids[at]) }, body })))
        return oneRun('mpp', ids)
      },
    }
  },
}

const deliveryFails: WhoActsStory = {
  flow: 'webhook',
  steps: [step('sendAgain')],
  inRealTime: true,
  events: [],
  done: doneIn('deliveries', `status = 'delivered'`),
  prepare: ({ sql, receiver }, { client }, count) =>
    waitingFor(client, 'webhook', 600, async () => {
      const { id: agentId } = await aFundedAgent(client)
      await times(count, at => {
        const path = `/${agentId}/${at}`
        receiver.treat(path, (response, n, received) =>
          respondWith(n === 0 ? 500 : 204)(response, n, received),
        )
        return aWebhook(client, { url: receiver.url + path, events: ['agent.frozen'] })
      })
      const { ownerId } = await bodyOf(
        client.agents.freeze({ params: { id: agentId }, body: { reason: 'Unusual' } }),
      )
      return until('all have failed once', async () => {
        const rows = await sql<{ id: string }>(
          `select id from deliveries where owner_id = $1 and status = 'pending' and tries = 1`,
          [ownerId],
        )
        return rows.length === count ? rows : undefined
      })
    }),
}

const policyEnds: WhoActsStory = {
  flow: 'agent',
  steps: [step('expirePolicy')],
  events: [],
  done: 'select agent_id as id from policies where agent_id = any($1) and expired_at is not null',
  async prepare(_, { client }, count) {
    const { id: policyId } = await aPolicy(client, { expiresAfterMinutes: 30 })
    return waitingFor(client, 'agent', 1_800, () => times(count, () => anAgent(client, { policyId })))
  },
}

interface Possessions {
  readonly hasCardAndIntent?: boolean
  readonly hasRun?: boolean
}

async function anAgentWith(
  { sql }: Stage,
  client: TestClient,
  { hasCardAndIntent = false, hasRun = false }: Possessions,
): Promise<string> {
  const { id: agentId } = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
  if (hasRun) await bodyOf(client.runs.create({ body: { agentId, name: 'Review' } }))
  if (!hasCardAndIntent) return agentId
  await activeCardsOf(sql, client, agentId)
  await anIntent(client, agentId, { amountEuros: 11 })
  return agentId
}

/** A deletion takes only the steps for which the agent has something. */
const agentIsDeleted = (steps: readonly Step[], possessions: Possessions): WhoActsStory => ({
  flow: 'agent',
  steps,
  events: ['agent.deleting', 'agent.deleted'],
  done: doneIn('agents', `status = 'deleted'`),
  async prepare(stage, { client }, count) {
    const ids = await times(count, () => anAgentWith(stage, client, possessions))
    return {
      waiting: [],
      async makeDue() {
        await times(count, at => bodyOf(client.agents.delete({ params: { id: String(ids[at]) } })))
        return oneRun('agent', ids)
      },
    }
  },
})

/** A company has no more representatives. */
const MOST_REPRESENTATIVES = 20

/** Representatives of a company, and how each submits an identity, which the provider answers by the name. */
async function identities(client: TestClient, count: number, name: string) {
  const people = Array.from({ length: Math.min(count, MOST_REPRESENTATIVES) }, (_, at) => ({
    name,
    dateOfBirth: `1985-12-${at + 10}`,
    country: 'DE',
    position: 'Managing director',
  }))
  const { representatives } = await submitted(client, { representatives: people })
  return () =>
    times(people.length, at =>
      aSubmission(client, name, {
        representativeId: String(representatives[at]?.id),
        dateOfBirth: String(people[at]?.dateOfBirth),
      }),
    )
}

const identityIsSubmitted: WhoActsStory = {
  flow: 'kyc',
  steps: [step('submitIdentity')],
  events: ['kyc.submitted', 'kyc.verified'],
  done: doneIn('kyc_submissions', `status = 'verified'`),
  async prepare(_, { client }, count) {
    const submit = await identities(client, count, 'Ada Lovelace')
    return {
      waiting: [],
      makeDue: async () =>
        oneRun(
          'kyc',
          (await submit()).map(({ id }) => id),
        ),
    }
  },
}

/** The provider decides a day later. */
const providerIsAsked: WhoActsStory = {
  flow: 'kyc',
  steps: [step('askProvider')],
  events: ['kyc.verified'],
  done: doneIn('kyc_submissions', `status = 'verified'`),
  async prepare({ sql }, { client }, count) {
    const submit = await identities(client, count, 'Later Ada')
    return waitingFor(client, 'kyc', DAY, async () => {
      const made = await submit()
      await untilAll(sql, doneIn('kyc_submissions', `status = 'in_review'`), made)
      return made
    })
  },
}

async function untilAll(
  sql: Stage['sql'],
  found: string,
  made: readonly { readonly id: string }[],
): Promise<void> {
  const ids = made.map(({ id }) => id)
  await until(
    found,
    async () => new Set((await sql<{ id: string }>(found, [ids])).map(({ id }) => id)).size === ids.length,
  )
}

export const whoActsStories: readonly WhoActsStory[] = [
  intentExpires,
  cardIsIssued,
  cardRequestExpires,
  numberIsReplaced,
  numberRetires,
  cardIsClosed,
  transferIsPaid,
  payeeIsNotConfirmed,
  railIsAsked,
  identityIsSubmitted,
  providerIsAsked,
  policyEnds,
  agentIsDeleted([step('closeCards'), step('cancelIntents')], { hasCardAndIntent: true }),
  agentIsDeleted([step('endRuns'), step('returnMoney')], { hasRun: true }),
  agentIsDeleted([step('finishDeletion')], {}),
  requestExpires,
  refundsAreFollowed,
  merchantIsAskedAgain,
  refundIsGivenUp,
  disputeIsOpened,
  disputeLapses,
  outcomeStaysOpen,
  tokenIsDeleted,
  deliveryFails,
  // The last one, as it waits for two minutes only.
  merchantDoesNotAnswer,
]
