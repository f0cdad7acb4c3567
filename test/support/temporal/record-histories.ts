import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import pg from 'pg'
import { sandboxIdentity } from '../../../src/adapters/identity-verification/sandbox.ts'
import { startDeadlineSweep, startWebhookDeliveries } from '../../../src/app/background.ts'
import { startOutboxRelay } from '../../../src/app/relay-service.ts'
import { openService } from '../../../src/app/service.ts'
import { startTemporalWorker } from '../../../src/app/worker-service.ts'
import { RECORD_CHANGED_SIGNAL } from '../../../src/kernel/contract/process.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import { aCardRequest } from '../cards/card-requests.ts'
import { aCard } from '../cards/cards.ts'
import { approveAs } from '../cards/several-approvers.ts'
import { clientAt } from '../client.ts'
import { refund } from '../commerce/refunds.ts'
import { aRequest, sendEuros } from '../commerce/requests.ts'
import { cloneDatabase } from '../database.ts'
import { aFundedAgent, aKey, anAgentUnder, anIntent, aSepaTransfer, aWallet, bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { aPerson, type Enrolled, enrolled, signed } from '../identity/people.ts'
import { setUp, tearDown } from '../jest/run.ts'
import { ACCOUNT } from '../money/camt.ts'
import { until } from '../until.ts'
import { disputeStories } from './dispute-stories.ts'
import { gdprStories } from './gdpr-stories.ts'
import { incidentStories } from './incident-stories.ts'
import { kycStories } from './kyc-stories.ts'
import { mandateStories } from './mandate-stories.ts'
import { mppStories } from './mpp-stories.ts'
import { onboardingStories } from './onboarding-stories.ts'
import { recoveryStories } from './recovery-stories.ts'
import { refundStories } from './refund-stories.ts'
import { type ScheduleStage, scheduleStories } from './schedule-stories.ts'
import { scheduleOf } from './schedules.ts'
import { type BankStage, sepaFileStories } from './sepa-file-stories.ts'
import { type Callers, type Stage, stageOf } from './stage.ts'

/**
 * Records the histories that a real server has of our processes, for `test/workflows/replay.test.ts`:
 *
 *     node test/support/temporal/record-histories.ts
 *
 * An existing history is not replaced: it stands for the runs that are open when a changed workflow is deployed. For a new
 * path through a workflow, add a story here and record it beside the others. A history of which no version was released may
 * be deleted and recorded anew.
 */
const folder = join(import.meta.dirname, '../../workflows/histories')

/** Plays the story and returns the id of the workflow whose history is recorded. */
type Story = (stage: Stage & BankStage & ScheduleStage) => Promise<string>

interface Waiting {
  readonly id: string
  readonly agentId: string
  readonly workflowId: string
}

async function waiting({ client, shows }: Stage, minutes = 60): Promise<Waiting> {
  const agent = await aFundedAgent(client)
  const body = { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'A paper on caching' }
  const { id } = await bodyOf(client.intents.create({ body: { ...body, expiresInMinutes: minutes } }))
  const workflowId = `intent/${id}`
  await shows(workflowId, 'waits for approval')
  return { id, agentId: agent.id, workflowId }
}

/** An open payment request. */
async function aPaymentRequest({ client, shows }: Stage) {
  const { id, reference } = await aRequest(client, (await aWallet(client)).id)
  const workflowId = `collect/${id}`
  await shows(workflowId, 'for the payment, until')
  return { id, reference, workflowId }
}

/** An agent's open request for a card or for other limits. */
async function aCardRequestThatWaits(
  { client, shows }: Stage,
  type: 'new_card' | 'limit_change' = 'new_card',
): Promise<Paid> {
  const { id: agentId } = await aFundedAgent(client)
  const limits = { maxTransactionEuros: 50 }
  const card =
    type === 'limit_change' ? await bodyOf(client.cards.create({ body: { agentId, usage: 'multi' } })) : null
  const body = { type, agentId, limits, reason: 'A paper on caching', ...(card && { cardId: card.id }) }
  const { id, workflowId } = await bodyOf(client.cardRequests.create({ body }))
  await shows(workflowId, 'waits for approval')
  return { id, workflowId }
}

interface Paid {
  readonly id: string
  readonly workflowId: string
}

/** A SEPA transfer to a payee of this name. */
async function paying({ client }: Stage, name: string, amountEuros = 12.5): Promise<Paid> {
  const { id, workflowId } = await aSepaTransfer(client, { name, amountEuros })
  return { id, workflowId: String(workflowId) }
}

/** A webhook to an unreachable receiver, after its first attempt. */
async function undelivered({ client }: Stage): Promise<string> {
  const url = 'http://127.0.0.1:59999/nobody-is-there'
  const { id } = await bodyOf(client.webhooks.create({ body: { url, events: ['agent.created'] } }))
  await bodyOf(client.agents.create({ body: { name: 'Reader' } }))
  const first = async () => (await bodyOf(client.webhooks.deliveries({ params: { id } }))).data[0]
  return until('it has failed once', async () => (await first())?.workflowId)
}

/** The record is due in two seconds: the timer of its run fires, and the run takes the step, as no test clock does. */
async function untilDue(stage: Stage, workflowId: string, table: string, due: string): Promise<string> {
  const id = workflowId.split('/')[1]
  await stage.sql(`update ${table} set ${due} = now() + interval '2 seconds' where id = $1`, [id])
  await stage.signal(workflowId, RECORD_CHANGED_SIGNAL, null)
  await stage.ends(workflowId)
  return workflowId
}

/** An agent for whose payments and cards two people must approve within an hour, and the passkey of one of them. */
async function anAgentOfTwoApprovers({ client, sql, signer }: Stage) {
  const { personId, device } = await signer()
  const [person] = await sql<{ ownerId: string }>('select owner_id as "ownerId" from people where id = $1', [
    personId,
  ])
  await aPerson({ sql }, { ownerId: String(person?.ownerId) }, { role: 'approver' })
  const step = { aboveEuros: 0, of: 'approvers', need: 2, withinMinutes: 60, then: 'deny' } as const
  const { id: agentId } = await anAgentUnder(client, { approval: [step] })
  return { agentId, device }
}

/** Half of the time of the step is over, and then all of it: its run reminds, and then denies. */
async function untilStepEnds(stage: Stage, workflowId: string, table: string): Promise<string> {
  const id = workflowId.split('/')[1]
  const reminders = async () => {
    const text = `select (approval ->> 'reminders')::int as sent from ${table} where id = $1`
    return (await stage.sql<{ sent: number }>(text, [id]))[0]?.sent
  }
  for (const minutes of [31, 61]) {
    const began = new Date(Date.now() - minutes * 60_000).toISOString()
    const text = `update ${table} set approval_due_at = now(), approval = approval || jsonb_build_object('beganAt', $2::text) where id = $1`
    await stage.sql(text, [id, began])
    await stage.signal(workflowId, RECORD_CHANGED_SIGNAL, null)
    if (minutes === 31) await until('it is reminded', async () => (await reminders()) === 1)
  }
  await stage.ends(workflowId)
  return workflowId
}

const stories: Readonly<Record<string, Story>> = {
  ...mandateStories,
  ...mppStories,
  ...disputeStories,
  ...incidentStories,
  ...gdprStories,
  ...kycStories,
  ...onboardingStories,
  ...recoveryStories,
  ...refundStories,
  ...scheduleStories,
  ...sepaFileStories,

  'transfer-completed': async stage => {
    const { workflowId } = await paying(stage, 'Bäckerei Müller')
    await stage.ends(workflowId)
    return workflowId
  },

  'transfer-confirmed-by-signal': async stage => {
    const { workflowId } = await paying(stage, 'Close Adler GmbH')
    await stage.shows(workflowId, 'waits for confirmPayee')
    await stage.signal(workflowId, 'confirmPayee', { by: 7 })
    await stage.sendUnreadable(workflowId, 'cancel')
    await stage.shows(workflowId, 'A signal cancel was ignored')
    await stage.signal(workflowId, 'confirmPayee', { by: 'Ada', comment: 'Known to us' })
    await stage.ends(workflowId)
    return workflowId
  },

  'transfer-confirmed-by-update': async stage => {
    const { workflowId } = await paying(stage, 'Close Adler GmbH')
    await stage.shows(workflowId, 'waits for confirmPayee')
    await stage.update(workflowId, 'confirmPayee', { by: 'Ada', comment: 'Known to us' })
    await stage.ends(workflowId)
    return workflowId
  },

  'transfer-lapsed': async stage => {
    const { workflowId } = await paying(stage, 'No Match GmbH')
    await stage.shows(workflowId, 'waits for confirmPayee')
    await bodyOf(stage.client.sandbox.advance({ body: { days: 7 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'transfer-lapsed-by-its-run': async stage => {
    const { workflowId } = await paying(stage, 'No Match GmbH')
    await stage.shows(workflowId, 'waits for confirmPayee')
    return untilDue(stage, workflowId, 'transfers', 'due_at')
  },

  'transfer-waits': async stage => {
    const { workflowId } = await paying(stage, 'Bäckerei Müller', 777.06)
    await stage.shows(workflowId, 'submitted')
    await stage.signal(workflowId, 'cancel', { by: 'Ada' })
    await stage.shows(workflowId, 'by Ada changed nothing')
    return workflowId
  },

  'transfer-asked-about': async stage => {
    const { workflowId } = await paying(stage, 'Bäckerei Müller', 777.03)
    await stage.shows(workflowId, 'indeterminate')
    await bodyOf(stage.client.sandbox.advance({ body: { minutes: 1 } }))
    await bodyOf(stage.client.sandbox.advance({ body: { minutes: 5 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'transfer-rejected-by-notice': async stage => {
    const { id, workflowId } = await paying(stage, 'Bäckerei Müller', 777.06)
    await stage.shows(workflowId, 'submitted')
    await bodyOf(stage.client.transfers.simulateReject({ body: { transferId: id, reasonCode: 'AC04' } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'transfer-recalled': async stage => {
    const { id, workflowId } = await paying(stage, 'Bäckerei Müller', 888.01)
    await stage.ends(workflowId)
    await bodyOf(stage.client.transfers.recall({ params: { id }, body: { reason: 'Paid twice' } }))
    const get = () => bodyOf(stage.client.transfers.get({ params: { id } }))
    await until('the recall is answered', async () => (await get()).recall?.status === 'refused')
    await stage.ends(workflowId)
    return workflowId
  },

  'webhook-given-up': async stage => {
    const workflowId = await undelivered(stage)
    await stage.ends(workflowId)
    return workflowId
  },

  'webhook-not-waited-for': async stage => {
    const workflowId = await undelivered(stage)
    await stage.shows(workflowId, 'Attempt 2 is made at')
    await stage.signal(workflowId, 'retryNow', {})
    await stage.ends(workflowId)
    return workflowId
  },

  'card-request-issued': async stage => {
    const { id, workflowId } = await aCardRequestThatWaits(stage)
    const limits = { maxTransactionEuros: 25 }
    await bodyOf(stage.client.cardRequests.approve({ params: { id }, body: { limits } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'card-request-approved-by-signal': async stage => {
    const { workflowId } = await aCardRequestThatWaits(stage, 'limit_change')
    await stage.signal(workflowId, 'approve', { by: 7 })
    await stage.shows(workflowId, 'A signal approve was ignored')
    await stage.signal(workflowId, 'approve', { by: 'Ada', reason: 'Go ahead' })
    await stage.ends(workflowId)
    return workflowId
  },

  'card-request-denied-by-signal': async stage => {
    const { workflowId } = await aCardRequestThatWaits(stage)
    await stage.signal(workflowId, 'deny', { by: 'Ada', reason: 'One is enough' })
    await stage.ends(workflowId)
    return workflowId
  },

  'card-request-asked-to-cancel': async stage => {
    const { workflowId } = await aCardRequestThatWaits(stage)
    await stage.cancel(workflowId)
    await stage.ends(workflowId)
    return workflowId
  },

  'card-request-expired': async stage => {
    const { workflowId } = await aCardRequestThatWaits(stage)
    await bodyOf(stage.client.sandbox.advance({ body: { days: 3 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'card-request-denied-by-its-step': async stage => {
    const { client } = stage
    const { agentId, device } = await anAgentOfTwoApprovers(stage)
    const { id, workflowId } = await aCardRequest(client, agentId)
    await stage.shows(workflowId, 'for approvals: 0 of 2')
    await bodyOf(approveAs(client, id, { device }))
    await stage.shows(workflowId, 'for approvals: 1 of 2')
    return untilStepEnds(stage, workflowId, 'card_requests')
  },

  'card-request-waits': async stage => (await aCardRequestThatWaits(stage)).workflowId,

  'collect-waits': async stage => (await aPaymentRequest(stage)).workflowId,

  'collect-paid-in-parts': async stage => {
    const { reference, workflowId } = await aPaymentRequest(stage)
    await sendEuros(stage.client, 10, reference)
    await stage.shows(workflowId, '€ 10.00 received')
    await sendEuros(stage.client, 20, reference)
    await stage.ends(workflowId)
    return workflowId
  },

  'collect-expired': async stage => {
    const { workflowId } = await aPaymentRequest(stage)
    await bodyOf(stage.client.sandbox.advance({ body: { days: 1 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'collect-cancelled-by-signal': async stage => {
    const { workflowId } = await aPaymentRequest(stage)
    await stage.signal(workflowId, 'cancel', { by: 7 })
    await stage.shows(workflowId, 'A signal cancel was ignored')
    await stage.signal(workflowId, 'cancel', { by: 'Ada', reason: 'Paid in cash' })
    await stage.ends(workflowId)
    return workflowId
  },

  'collect-asked-to-cancel': async stage => {
    const { workflowId } = await aPaymentRequest(stage)
    await stage.cancel(workflowId)
    await stage.ends(workflowId)
    return workflowId
  },

  'collect-refunded': async stage => {
    const { id, reference, workflowId } = await aPaymentRequest(stage)
    await sendEuros(stage.client, 25, reference)
    await stage.ends(workflowId)
    await bodyOf(refund(stage.client, id))
    const status = async () => (await bodyOf(stage.client.collect.get({ params: { id } }))).status
    await until('the money is back', async () => (await status()) === 'refunded')
    await stage.ends(workflowId)
    return workflowId
  },

  'intent-expired-by-its-run': async stage => {
    const { workflowId } = await waiting(stage)
    return untilDue(stage, workflowId, 'intents', 'expires_at')
  },

  'intent-waits': async stage => (await waiting(stage)).workflowId,

  'intent-denied-by-its-step': async stage => {
    const { client } = stage
    const { agentId, device } = await anAgentOfTwoApprovers(stage)
    const { id, workflowId } = await anIntent(client, agentId)
    await stage.shows(String(workflowId), 'for approvals: 0 of 2')
    const challenge = await bodyOf(client.intents.challenge({ params: { intentId: id }, body: {} }))
    const body = { webauthnAssertion: signed(challenge, device) }
    await bodyOf(client.intents.approve({ params: { id }, body }))
    await stage.shows(String(workflowId), 'for approvals: 1 of 2')
    return untilStepEnds(stage, String(workflowId), 'intents')
  },

  'intent-approved-and-expired': async stage => {
    const { id, workflowId } = await waiting(stage)
    await bodyOf(stage.client.intents.approve({ params: { id } }))
    await stage.shows(workflowId, 'approved')
    await bodyOf(stage.client.sandbox.advance({ body: { minutes: 60 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'intent-denied-by-signal': async stage => {
    const { workflowId } = await waiting(stage)
    await stage.signal(workflowId, 'deny', { by: 'Ada', comment: 'Too expensive' })
    await stage.ends(workflowId)
    return workflowId
  },

  'intent-told-nonsense': async stage => {
    const { workflowId } = await waiting(stage)
    await stage.signal(workflowId, 'approve', { by: 7 })
    await stage.sendUnreadable(workflowId, 'deny')
    await stage.shows(workflowId, 'A signal deny was ignored')
    await stage.signal(workflowId, 'approve', { by: 'Ada' })
    await stage.signal(workflowId, 'approve', { by: 'Bob' })
    await stage.shows(workflowId, 'by Bob changed nothing')
    return workflowId
  },

  'intent-answered-by-updates': async stage => {
    const { workflowId } = await waiting(stage)
    await stage.update(workflowId, 'approve', { by: 7 })
    await stage.update(workflowId, 'approve', { by: 'Ada', reason: 'Go ahead' })
    await stage.update(workflowId, 'approve', { by: 'Bob' })
    await stage.update(workflowId, 'cancel', { by: 'Ada' })
    await stage.ends(workflowId)
    return workflowId
  },

  'intent-cancelled': async stage => {
    const { id, workflowId } = await waiting(stage)
    await bodyOf(stage.client.intents.cancel({ params: { id } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'intent-asked-to-cancel': async stage => {
    const { workflowId } = await waiting(stage)
    await stage.cancel(workflowId)
    await stage.ends(workflowId)
    return workflowId
  },

  'intent-answered': async stage => {
    const { workflowId } = await waiting(stage)
    await stage.signal(workflowId, 'approve', { by: 7 })
    await stage.shows(workflowId, 'A signal approve was ignored')
    await stage.signal(workflowId, 'complete', { by: 'Ada' })
    await stage.shows(workflowId, 'no such signal is known')
    await stage.signal(workflowId, 'approve', { by: 'Ada', reason: 'Go ahead' })
    await stage.signal(workflowId, 'approve', { by: 'Bob' })
    await stage.shows(workflowId, 'by Bob changed nothing')
    return workflowId
  },

  'transfer-asked-to-cancel-too-late': async stage => {
    const { id, workflowId } = await paying(stage, 'Bäckerei Müller', 777.06)
    await stage.shows(workflowId, 'submitted')
    await stage.cancel(workflowId)
    await stage.shows(workflowId, 'changed nothing')
    await bodyOf(stage.client.transfers.simulateReject({ body: { transferId: id, reasonCode: 'AC04' } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'agent-asked-to-cancel': async ({ client, shows, cancel, ends }) => {
    const policy = await bodyOf(client.policies.create({ body: { name: 'Short', expiresAfterMinutes: 30 } }))
    const { id } = await bodyOf(client.agents.create({ body: { name: 'Reader', policyId: policy.id } }))
    await shows(`agent/${id}`, 'the policy ends')
    await cancel(`agent/${id}`)
    await shows(`agent/${id}`, 'Request Cancellation changed nothing')
    await bodyOf(client.agents.delete({ params: { id } }))
    await ends(`agent/${id}`)
    return `agent/${id}`
  },

  'statements-of-a-clock': async ({ client, ends }) => {
    const { id, ownerId } = await bodyOf(client.wallets.create({ body: { name: 'Purse' } }))
    await bodyOf(client.fund.wallet({ params: { id }, body: { amountEuros: 25 } }))
    await bodyOf(client.sandbox.advance({ body: { days: 40 } }))
    await ends(`statements/${ownerId}`)
    return `statements/${ownerId}`
  },

  'agent-deleted': async stage => {
    const { agentId, workflowId } = await waiting(stage)
    await bodyOf(stage.client.agents.delete({ params: { id: agentId } }))
    await stage.ends(`agent/${agentId}`)
    await stage.ends(workflowId)
    return `agent/${agentId}`
  },

  'agent-deleted-before-its-policy-ends': async ({ client, shows, ends }) => {
    const policy = await bodyOf(client.policies.create({ body: { name: 'Short', expiresAfterMinutes: 30 } }))
    const { id } = await bodyOf(client.agents.create({ body: { name: 'Reader', policyId: policy.id } }))
    await shows(`agent/${id}`, 'the policy ends')
    await bodyOf(client.agents.delete({ params: { id } }))
    await ends(`agent/${id}`)
    return `agent/${id}`
  },

  'agent-deleted-with-cards': async ({ client, shows, ends }) => {
    const { id, agentId } = await aCard(client)
    await shows(`card/${id}`, 'for its expiry or a change')
    await bodyOf(client.agents.delete({ params: { id: agentId } }))
    await ends(`agent/${agentId}`)
    return `agent/${agentId}`
  },

  'card-waits': async ({ client, shows }) => {
    const { id } = await aCard(client)
    await shows(`card/${id}`, 'for its expiry or a change')
    return `card/${id}`
  },

  'card-issued-late-and-rotated': async ({ client, shows, ends }) => {
    const { id } = await aCard(client, { displayName: 'sandbox late' })
    const params = { id }
    await shows(`card/${id}`, 'for the processor to issue it')
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    await shows(`card/${id}`, 'for its expiry or a change')
    await bodyOf(client.cards.rotate({ params, body: { overlapMinutes: 5 } }))
    const last4 = async () => (await bodyOf(client.cards.get({ params }))).last4
    const before = await last4()
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    await until('it has another number', async () => (await last4()) !== before)
    await bodyOf(client.sandbox.advance({ body: { minutes: 6 } }))
    await bodyOf(client.cards.close({ params, body: {} }))
    await ends(`card/${id}`)
    return `card/${id}`
  },

  'card-signalled-with-a-purse': async ({ client, shows, signal, cancel, ends }) => {
    const { id } = await aCard(client)
    await shows(`card/${id}`, 'for its expiry or a change')
    await bodyOf(client.cards.fund({ params: { id }, body: { amountEuros: 5 } }))
    await signal(`card/${id}`, 'freeze', { by: 'Ada', reason: 'Unusual' })
    await shows(`card/${id}`, 'frozen')
    await signal(`card/${id}`, 'freeze', { by: 7 })
    await shows(`card/${id}`, 'A signal freeze was ignored')
    await cancel(`card/${id}`)
    await shows(`card/${id}`, 'Request Cancellation changed nothing')
    await signal(`card/${id}`, 'unfreeze', { by: 'Ada' })
    await signal(`card/${id}`, 'close', { by: 'Ada' })
    await ends(`card/${id}`)
    return `card/${id}`
  },

  'agent-policy-expired': async ({ client, shows, ends }) => {
    const policy = await bodyOf(client.policies.create({ body: { name: 'Short', expiresAfterMinutes: 30 } }))
    const { id } = await bodyOf(client.agents.create({ body: { name: 'Reader', policyId: policy.id } }))
    await shows(`agent/${id}`, 'the policy ends')
    await bodyOf(client.sandbox.advance({ body: { minutes: 30 } }))
    await ends(`agent/${id}`)
    return `agent/${id}`
  },
}

/** The history without the identity of its recorder. */
const anonymous = (json: string): string => json.replace(/("identity": )"[^"]*"/g, '$1"recorder"')

async function record(
  temporal: Client,
  { payer, ...callers }: Callers & Pick<BankStage, 'payer'>,
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const begins = async (name: string) =>
    (await scheduleOf(temporal, access.taskQueue, name).trigger()).workflowId
  for (const [name, story] of Object.entries(stories)) {
    const file = join(folder, `${name}-v2.json`)
    if (existsSync(file)) continue
    const workflowId = await story({ ...stageOf(temporal, callers), payer, begins })
    const history = await temporal.workflow.getHandle(workflowId).fetchHistory()
    writeFileSync(file, anonymous(`${JSON.stringify(JSON.parse(historyToJSON(history)), null, 2)}\n`))
    process.stdout.write(`${name}\n`)
  }
}

await setUp()
const address = String(process.env.TEST_TEMPORAL_ADDRESS)
const access = { namespace: 'default', taskQueue: 'recorder', client: { address }, worker: { address } }
const secrets = {
  dashboardSecret: 'the-secret-of-the-recorder',
  cursorSigningKey: 'a-secret-key-of-the-recorder-0123456789',
  encryptionKey: '00'.repeat(32),
}
const bankFolder = mkdtempSync(join(tmpdir(), 'bank-'))
const env = {
  RATE_LIMIT_PER_MINUTE: '1000000',
  LOG_LEVEL: 'warn',
  OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
  WEBHOOK_RETRY_SECONDS: '2,2',
  // Beside a real rail the signals of an onboarding open live money.
  OPERATOR_SIGNALS: 'true',
  SEPA_RAIL: 'files',
  SEPA_FOLDER: bankFolder,
  COLLECTION_IBAN: ACCOUNT,
  DATABASE_COUNTRY: 'DE',
  TEMPORAL_COUNTRY: 'DE',
  FILES_COUNTRY: 'DE',
}
const settings = { ...readSettings(env), ...secrets }
/** Beside a real rail the setting refuses it. Its stories send no notice. */
const identity = sandboxIdentity([], async () => undefined)
const service = await openService({
  settings: { ...settings, databaseUrl: await cloneDatabase() },
  outside: { identityVerification: () => identity },
})
// Those of the day are there, so that none are fetched.
await service.runtime.database.pool.query(
  `insert into exchange_rates (date, currency, rate, fetched_at) values (current_date + 1, 'USD', 1.16, now())`,
)
const parts = [
  startDeadlineSweep(service.runtime),
  startOutboxRelay(service.runtime, access),
  startTemporalWorker(service.runtime, access),
  startWebhookDeliveries(service.runtime),
]
const url = `http://127.0.0.1:${await service.listen(0, '127.0.0.1')}`
const dash = clientAt({ url, dashboardSecret: secrets.dashboardSecret })
const owner = {
  name: 'Owner',
  email: 'owner@example.com',
  type: 'business',
  country: 'DE',
  plan: 'business',
} as const
const { id: ownerId, key: shownKey } = await bodyOf(dash.keys.openAccount({ body: owner }))
const key = String(shownKey)
const client = clientAt({ url, token: key })
const pool = new pg.Pool({ connectionString: service.runtime.settings.databaseUrl })
let enrolling: Promise<Enrolled> | undefined
const sql: TestService['sql'] = async (text, values = []) => (await pool.query(text, [...values])).rows
const signer = () => (enrolling ??= enrolled({ url, sql }, { ownerId, key, client }))
async function openPayer() {
  await sql(`update customers set kyc_status = 'verified' where id = $1`, [ownerId])
  const live = await aKey(client, { environment: 'live' })
  return { client: clientAt({ url, token: String(live.key) }), ownerId }
}
let opening: ReturnType<typeof openPayer> | undefined
const payer = () => (opening ??= openPayer())
const connection = await Connection.connect({ address })
try {
  await record(new Client({ connection }), { client, dash, signer, sql, payer })
} finally {
  await Promise.all([connection.close(), pool.end()])
  await Promise.all(parts.map(part => part.stop()))
  await service.stop()
  rmSync(bankFolder, { recursive: true })
  await tearDown()
}
