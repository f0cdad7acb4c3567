import type { Client } from '@temporalio/client'
import { aCard } from '../../support/cards/cards.ts'
import { aRequest, sendEuros } from '../../support/commerce/requests.ts'
import { incidentDesk } from '../../support/compliance/incidents.ts'
import { type Receiver, respondWith } from '../../support/delivery/receiver-server.ts'
import {
  aBeneficiary,
  aFundedAgent,
  anAgent,
  anAgentUnder,
  anIntent,
  aSepaTransfer,
  aWallet,
  aWebhook,
  bodyOf,
  type TestClient,
} from '../../support/factories.ts'
import type { TestService } from '../../support/harness.ts'
import { assertion, type Enrolled, enrolled } from '../../support/identity/people.ts'
import { disputeStories } from '../../support/temporal/dispute-stories.ts'
import { gdprStories } from '../../support/temporal/gdpr-stories.ts'
import { incidentStories } from '../../support/temporal/incident-stories.ts'
import { submittedIdentity } from '../../support/temporal/kyc-stories.ts'
import { mandateStories } from '../../support/temporal/mandate-stories.ts'
import { mppStories } from '../../support/temporal/mpp-stories.ts'
import { recoveryStories } from '../../support/temporal/recovery-stories.ts'
import { refundStories } from '../../support/temporal/refund-stories.ts'
import { type Callers, type Stage as Runs, stageOf } from '../../support/temporal/stage.ts'
import { until } from '../../support/until.ts'
import type { Account } from './installation.ts'

export interface Stage extends Runs {
  readonly receiver: Receiver
  /** Undefined if the run has ended, or if there is none. */
  runIdOf(workflowId: string): Promise<string | undefined>
  /** Waits for the end of the run. */
  resultOf(workflowId: string): Promise<unknown>
}

/** A person with a passkey, enrolled once it is needed. */
export function signerOf(service: Pick<TestService, 'sql' | 'url'>, account: Account): Callers['signer'] {
  let enrolling: Promise<Enrolled> | undefined
  return () => (enrolling ??= enrolled(service, account))
}

export function stageAt(temporal: Client, callers: Callers, receiver: Receiver): Stage {
  const describe = (workflowId: string) =>
    temporal.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => undefined)
  return {
    ...stageOf(temporal, callers),
    receiver,
    async runIdOf(workflowId) {
      const run = await describe(workflowId)
      return run?.status.name === 'RUNNING' ? run.runId : undefined
    },
    async resultOf(workflowId) {
      const status = await until(`the end of ${workflowId}`, async () => {
        const run = await describe(workflowId)
        return run && run.status.name !== 'RUNNING' ? run.status.name : undefined
      })
      return status === 'COMPLETED' ? temporal.workflow.getHandle(workflowId).result() : status
    },
  }
}

/** A record whose run waits. */
export interface OpenProcess {
  readonly kind: string
  readonly workflowId: string
}

interface Kind {
  readonly workflow: string
  /** Returns the id of the run. */
  readonly open: (stage: Stage) => Promise<string>
  /** What a person or another system does about it. Without it, the test clock ends it. */
  readonly finish?: (stage: Stage, recordId: string) => Promise<unknown>
  readonly result: string
}

/** An agent's intent to pay another wallet, which a person must approve. */
async function anIntentThatWaits({ client, shows }: Stage): Promise<string> {
  const shop = await aWallet(client, 0, { name: 'Bookshop' })
  const { id } = await anIntent(client, (await aFundedAgent(client)).id, { walletId: shop.id })
  await shows(`intent/${id}`, 'waits for approval')
  return id
}

const approve = ({ client }: Stage, id: string) => bodyOf(client.intents.approve({ params: { id } }))

async function payIntent({ client }: Stage, intentId: string): Promise<void> {
  const { agentId, walletId, amountEuros } = await bodyOf(client.intents.get({ params: { id: intentId } }))
  const agent = await bodyOf(client.agents.get({ params: { id: agentId } }))
  const body = { fromWalletId: agent.walletId, toWalletId: String(walletId), amountEuros, intentId }
  await bodyOf(client.transfers.create({ body }))
}

async function transferTo({ client, shows }: Stage, name: string, amountEuros: number, state: string) {
  const { workflowId } = await aSepaTransfer(client, { name, amountEuros })
  await shows(String(workflowId), state)
  return String(workflowId)
}

/** The network clears the card's one payment, which takes exactly what was held for it. */
async function clearCardPayment(client: TestClient, id: string): Promise<void> {
  const payment = async () =>
    (await bodyOf(client.authorizations.list({ params: { id }, query: {} }))).data[0]
  const held = await payment()
  await bodyOf(client.sandbox.clearCard({ body: { authorizationId: String(held?.id) } }))
  const cleared = await payment()
  const [before, after] = [held, cleared].map(one => `${one?.status} ${one?.heldEuros} ${one?.clearedEuros}`)
  if (before !== 'authorized 5 0' || after !== 'cleared 0 5')
    throw new Error(`the payment by card was ${before}, and is ${after}`)
}

async function aDeliveryThatFails({ client, receiver }: Stage): Promise<string> {
  receiver.treat('/down', respondWith(503))
  const { id } = await aWebhook(client, { url: `${receiver.url}/down`, events: ['agent.frozen'] })
  await bodyOf(client.agents.freeze({ params: { id: (await anAgent(client)).id } }))
  const run = await until('the first attempt of a delivery', async () => {
    const { data } = await bodyOf(client.webhooks.deliveries({ params: { id } }))
    return data[0]?.workflowId
  })
  return String(run)
}

async function aDeletionThatWaits({ client, signer, shows }: Stage): Promise<string> {
  const { id } = await aBeneficiary(client)
  await bodyOf(client.beneficiaries.delete({ params: { id } }))
  const subject = { type: 'beneficiary', id } as const
  const webauthnAssertion = await assertion(client, await signer(), { purpose: 'deletion', subject })
  const { workflowId } = await bodyOf(client.gdpr.createDeletion({ body: { subject, webauthnAssertion } }))
  await shows(workflowId, 'in which it can be cancelled')
  return workflowId
}

const theOnboarding = async ({ client }: Stage): Promise<string> =>
  until('the company', async () => {
    const { data } = await bodyOf(client.onboarding.list())
    return data.find(({ endedAt }) => endedAt === null)?.workflowId
  })

type Story = (stage: Stage) => Promise<string>

const story = (stories: Readonly<Record<string, Story>>, name: string): Story => {
  const found = stories[name]
  if (!found) throw new Error(`no story ${name}`)
  return found
}

/** In the order in which they are finished: at last, time passes. */
export const kinds: Readonly<Record<string, Kind>> = {
  'intent that waits for approval': {
    workflow: 'intent',
    open: async stage => `intent/${await anIntentThatWaits(stage)}`,
    async finish(stage, id) {
      await approve(stage, id)
      await payIntent(stage, id)
    },
    result: 'completed',
  },
  'approved intent, not paid yet': {
    workflow: 'intent',
    async open(stage) {
      const id = await anIntentThatWaits(stage)
      await approve(stage, id)
      return `intent/${id}`
    },
    finish: payIntent,
    result: 'completed',
  },
  'transfer whose payee is doubtful': {
    workflow: 'transfer',
    open: stage => transferTo(stage, 'Close Adler GmbH', 12.5, 'waits for confirmPayee'),
    finish: ({ client }, id) => bodyOf(client.transfers.confirmPayee({ params: { id }, body: {} })),
    result: 'completed',
  },
  'transfer that settles later': {
    workflow: 'transfer',
    // The sandbox’s bank settles this amount after an hour.
    open: stage => transferTo(stage, 'Bäckerei Müller', 777.01, 'submitted'),
    result: 'completed',
  },
  'delivery of a webhook that is retried': {
    workflow: 'webhook',
    open: aDeliveryThatFails,
    finish: async ({ receiver }) => receiver.treat('/down', respondWith(204)),
    result: 'delivered',
  },
  'card with an open authorization': {
    workflow: 'card',
    async open({ client, shows }) {
      const { id: agentId } = await anAgentUnder(client, { autoApproveLimitEuros: 1_000 })
      const { id } = await aCard(client, { agentId })
      await bodyOf(
        client.sandbox.authorizeCard({ body: { cardId: id, merchant: 'Bookshop', amountEuros: 5 } }),
      )
      await shows(`card/${id}`, 'for its expiry or a change')
      return `card/${id}`
    },
    async finish({ client }, id) {
      await clearCardPayment(client, id)
      await bodyOf(client.cards.close({ params: { id }, body: {} }))
    },
    result: 'closed',
  },
  'request for a card': {
    workflow: 'card-request',
    async open({ client, shows }) {
      const { id: agentId } = await aFundedAgent(client)
      const limits = { maxTransactionEuros: 50 }
      const body = { type: 'new_card', agentId, limits, reason: 'A paper on caching' } as const
      const { workflowId } = await bodyOf(client.cardRequests.create({ body }))
      await shows(workflowId, 'waits for approval')
      return workflowId
    },
    finish: ({ client }, id) =>
      bodyOf(client.cardRequests.approve({ params: { id }, body: { limits: { maxTransactionEuros: 25 } } })),
    result: 'issued',
  },
  'payment request': {
    workflow: 'collect',
    async open({ client, shows }) {
      const { id } = await aRequest(client, (await aWallet(client)).id)
      await shows(`collect/${id}`, 'for the payment, until')
      return `collect/${id}`
    },
    async finish({ client }, id) {
      const { amountEuros, reference } = await bodyOf(client.collect.get({ params: { id } }))
      await sendEuros(client, amountEuros, reference)
    },
    result: 'paid',
  },
  'identity of a person': {
    workflow: 'kyc',
    async open(stage) {
      // The sandbox’s provider does not answer about this name; with a real rail the operator decides.
      const { workflowId } = await submittedIdentity(stage, 'Absent Ada')
      await until('its run', () => stage.runIdOf(workflowId))
      return workflowId
    },
    finish: ({ dash }, id) => bodyOf(dash.kyc.approve({ params: { id } })),
    result: 'verified',
  },
  'admission of a company': {
    workflow: 'onboarding',
    open: theOnboarding,
    finish: ({ client }, id) => bodyOf(client.onboarding.withdraw({ params: { id } })),
    result: 'withdrawn',
  },
  incident: {
    workflow: 'incident',
    open: story(incidentStories, 'incident-waits'),
    async finish(stage, id) {
      const desk = incidentDesk(stage)
      await desk.classify(id, false)
      await bodyOf(desk.incidents.close({ params: { id } }))
    },
    result: 'closed',
  },
  'machine payment with an open outcome': {
    workflow: 'mpp',
    open: story(mppStories, 'mpp-waits'),
    result: 'void',
  },
  refund: { workflow: 'refund', open: story(refundStories, 'refund-waits'), result: 'failed' },
  dispute: {
    workflow: 'dispute',
    open: story(disputeStories, 'dispute-waits'),
    finish: ({ client }, disputeId) =>
      bodyOf(client.sandbox.disputeCard({ body: { disputeId, says: 'won' } })),
    result: 'won',
  },
  mandate: { workflow: 'mandate', open: story(mandateStories, 'mandate-waits'), result: 'expired' },
  'recovery of a passkey': {
    workflow: 'recovery',
    open: story(recoveryStories, 'recovery-waits'),
    result: 'expired',
  },
  'export of personal data': {
    workflow: 'gdpr-export',
    open: story(gdprStories, 'gdpr-export-waits'),
    result: 'expired',
  },
  'deletion of personal data': { workflow: 'gdpr-deletion', open: aDeletionThatWaits, result: 'completed' },
  'agent whose policy ends': {
    workflow: 'agent',
    async open({ client, shows }) {
      const body = { name: 'Short', expiresAfterMinutes: 30 }
      const policy = await bodyOf(client.policies.create({ body }))
      const { id } = await anAgent(client, { policyId: policy.id })
      await shows(`agent/${id}`, 'the policy ends')
      return `agent/${id}`
    },
    result: 'active',
  },
}

interface Refused {
  readonly kind: string
  readonly reason: string
}

export interface Opened {
  readonly open: readonly OpenProcess[]
  /** Kinds that this version does not open in this way. */
  readonly refused: readonly Refused[]
}

/** Opens a process of every kind. */
export async function openProcesses(stage: Stage): Promise<Opened> {
  const refused: Refused[] = []
  const opening = Object.entries(kinds).map(async ([kind, { workflow, open }]) => {
    try {
      const workflowId = await open(stage)
      if (!workflowId.startsWith(`${workflow}/`)) throw new Error(`${workflowId} is no ${workflow}`)
      return [{ kind, workflowId }]
    } catch (error) {
      refused.push({ kind, reason: (error as Error).message })
      return []
    }
  })
  return { open: (await Promise.all(opening)).flat(), refused }
}

/** Within a minute the relay starts the runs that Temporal lacks. */
const REPAIRED_MS = 120_000

/** Waits until each has a run; returns the id of the run by that of the workflow. */
export async function untilRunning(
  stage: Stage,
  all: readonly OpenProcess[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const look = async ({ workflowId }: OpenProcess): Promise<void> => {
    const runId = found.has(workflowId) ? undefined : await stage.runIdOf(workflowId)
    if (runId) found.set(workflowId, runId)
  }
  const isComplete = async () => {
    await Promise.all(all.map(look))
    return found.size === all.length
  }
  await until('a run of each open process', isComplete, REPAIRED_MS).catch(() => undefined)
  return found
}

const recordIdOf = ({ workflowId }: OpenProcess): string => workflowId.slice(workflowId.indexOf('/') + 1)

/** Afterwards every process that waits for nothing but time has ended. */
const LATER = [{ minutes: 62 }, { days: 2 }, { days: 7 }, { days: 31 }]

/** Leads every process to its end; returns a line for each one whose run had another result. */
export async function finishProcesses(stage: Stage, all: readonly OpenProcess[]): Promise<string[]> {
  for (const process of all) await finish(stage, process)
  for (const body of LATER) await bodyOf(stage.client.sandbox.advance({ body }))
  const lines: string[] = []
  for (const { kind, workflowId } of all) {
    const result = await stage.resultOf(workflowId).catch((error: Error) => error.message)
    if (result !== kinds[kind]?.result) lines.push(`${kind}: ${String(result)}`)
  }
  return lines
}

async function finish(stage: Stage, process: OpenProcess): Promise<void> {
  try {
    await kinds[process.kind]?.finish?.(stage, recordIdOf(process))
  } catch (error) {
    throw new Error(`${process.kind}: ${(error as Error).message}`)
  }
}
