import { describe, expect, test } from '@jest/globals'
import { days, minutes } from '../../src/values/clock.ts'
import { times } from '../support/at-once.ts'
import { recordingRail } from '../support/commerce/rail.ts'
import { aSepaTransfer, aWallet, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { textOf } from '../support/temporal/history-text.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const rail = recordingRail()
const service = await startTestService({ temporal: true, outside: { sepaRail: () => rail.rail } })
const temporal = await runViewer()
const { client, ownerId } = await service.owner()

const get = (id: string) => bodyOf(client.transfers.get({ params: { id } }))
const untilStatus = (id: string, status: string) =>
  until(`${id} is ${status}`, async () => (await get(id)).status === status)

const proveLedger = () => expectVerifiedLedger(client)

async function aRun(members: Parameters<typeof aSepaTransfer>[1] = {}) {
  const transfer = await aSepaTransfer(client, members)
  const run = temporal.of(transfer)
  await run.untilBegun()
  return { transfer, run, id: transfer.id, params: { id: transfer.id } }
}

async function aWaiting() {
  const waiting = await aRun({ name: 'Close Adler GmbH' })
  await waiting.run.untilDetails('waits for confirmPayee or cancel')
  return waiting
}

const auditOf = async (id: string) =>
  (await bodyOf(client.audit.list({ query: { resource: id } }))).data.map(
    ({ actorType, actorId, event }) => `${event} by ${actorType} ${actorId}`,
  )

describe('a transfer by SEPA', () => {
  test.each(['sct', 'sct_inst'] as const)('by %s is carried out by its run', async scheme => {
    const { id, run } = await aRun({ scheme, amountEuros: 19.9 })
    expect(await run.untilEnded()).toBe('completed')
    expect(await get(id)).toMatchObject({ status: 'completed', payeeCheck: { result: 'match' } })
    expect(await run.attributes()).toMatchObject({ AgentPayOwner: ownerId, AgentPayStatus: 'completed' })
    expect(await run.details()).toMatch(/^Transfer of € 19\.90 to beneficiary_\w+ in test mode: completed$/)
    expect([rail.count('verifyPayee', id), rail.count('submit', id), rail.acceptedCount(id)]).toEqual([
      1, 1, 1,
    ])
    expect(await run.failedTasks()).toBe(0)
    expect(await run.historyLength()).toBeLessThanOrEqual(25)
    const historyText = textOf(await run.handle.fetchHistory())
    for (const secret of ['Bäckerei', 'Müller', 'DE89']) expect(historyText).not.toContain(secret)
    await proveLedger()
  })

  test('that is rejected ends the run with the reason in its details', async () => {
    const { run } = await aRun({ amountEuros: 666.01 })
    expect(await run.untilEnded()).toBe('rejected')
    expect(await run.details()).toContain('rejected, AC04: The payee’s account is closed.')
  })

  test('that waits for a person shows an operator for what and until when', async () => {
    const { id, transfer, run } = await aWaiting()
    expect(transfer.workflowId).toBe(`transfer/${id}`)
    expect(await run.attributes()).toMatchObject({ AgentPayOwner: ownerId, AgentPayStatus: 'verifying' })
    const { dueInMs, readAtMs, ...state } = (await run.state()) ?? {}
    expect(state).toEqual({
      status: 'verifying',
      summary: expect.stringMatching(
        /^Transfer of € 12\.50 to beneficiary_\w+ in test mode: .* until .* UTC \(close_match\)$/,
      ),
      closed: false,
      doubtfulSince: null,
      payee: 'doubtful',
      isSubmitted: false,
      isRecalled: false,
      deadline: expect.stringMatching(/ UTC$/),
      waitsFor: expect.stringMatching(/^for a person to confirm the payee, until .* UTC$/),
      signals: ['confirmPayee', 'cancel'],
    })
    expect(Number(dueInMs)).toBeGreaterThan(days(7) - minutes(2))
    await bodyOf(client.transfers.cancel({ params: { id }, body: {} }))
    expect(await run.untilEnded()).toBe('cancelled')
  })

  test('leaves no more than ids in the history of its run', async () => {
    const { run } = await aWaiting()
    const { events } = await run.handle.fetchHistory()
    const started = events?.[0]?.workflowExecutionStartedEventAttributes
    const [input] = (started?.input?.payloads ?? []).map(({ data }) => JSON.parse(String(data)))
    expect(Object.keys(input)).toEqual(['id', 'mode', 'agentId', 'ownerId'])
    expect(JSON.stringify(events)).not.toContain(Buffer.from('DE89370400440532013000').toString('base64'))
  })

  test('between wallets has no run', async () => {
    const [from, to] = [await aWallet(client, 1), await aWallet(client)]
    const body = { fromWalletId: from.id, toWalletId: to.id, amountEuros: 1 }
    const walletTransfer = await bodyOf(client.transfers.create({ body }))
    expect(walletTransfer.workflowId).toBe(null)
    expect(await temporal.of({ workflowId: `transfer/${walletTransfer.id}` }).status()).toBeUndefined()
  })

  test('among twenty concurrent ones completes once', async () => {
    const { id: fromWalletId } = await aWallet(client, 100)
    const all = await times(20, () => aSepaTransfer(client, { fromWalletId, amountEuros: 2 }))
    for (const transfer of all) expect(await temporal.of(transfer).untilEnded()).toBe('completed')
    expect(all.map(({ id }) => rail.acceptedCount(id))).toEqual(Array(20).fill(1))
    expect(await bodyOf(client.wallets.get({ params: { id: fromWalletId } }))).toMatchObject({
      availableEuros: 60,
      heldEuros: 0,
    })
    await proveLedger()
  })
})

describe('a transfer with a doubtful payee', () => {
  test('is paid once a person has confirmed the payee by an update, and says so', async () => {
    const { id, run } = await aWaiting()
    expect(await run.update('confirmPayee', { by: 'Ada', reason: 'Known to us' })).toEqual({
      status: expect.any(String),
      line: 'Update confirmPayee by Ada: done.',
    })
    expect(await run.untilEnded()).toBe('completed')
    expect(rail.acceptedCount(id)).toBe(1)
    expect(await auditOf(id)).toContain('payment.updated by operator Ada')
    const historyText = textOf(await run.handle.fetchHistory())
    for (const secret of ['Adler', 'DE89']) expect(historyText).not.toContain(secret)
    await proveLedger()
  })

  test('that was submitted refuses an update with the sentence of the API', async () => {
    const { id, run } = await aRun({ amountEuros: 777.06 })
    await run.untilDetails('submitted')
    expect(await run.refusal('cancel', { by: 'Ada' })).toMatch(
      /^refused: The update cancel by Ada changed nothing: /,
    )
    expect((await get(id)).status).toBe('submitted')
  })
})

describe('a transfer changed by REST', () => {
  test('continues its run when its payee is confirmed', async () => {
    const { run, params } = await aWaiting()
    await bodyOf(client.transfers.confirmPayee({ params, body: {} }))
    expect(await run.untilEnded()).toBe('completed')
  })

  test('ends its run by a notice, and a later notice starts no other run', async () => {
    const { id, run } = await aRun({ amountEuros: 777.06 })
    await untilStatus(id, 'submitted')
    await run.untilDetails('for the rail to report the outcome')
    const since = new Date(String((await get(id)).submittedAt))
    expect(await run.attributes()).toMatchObject({ AgentPayDoubtfulSince: since })
    await bodyOf(client.transfers.simulateSettle({ body: { transferId: id } }))
    expect(await run.untilEnded()).toBe('completed')
    expect(await run.attributes()).not.toHaveProperty('AgentPayDoubtfulSince')
    const { runId } = await run.handle.describe()
    await bodyOf(client.transfers.simulateReturn({ body: { transferId: id, reasonCode: 'AC04' } }))
    await until('the outbox is empty', async () => (await service.sql('select 1 from outbox')).length === 0)
    expect((await run.handle.describe()).runId).toBe(runId)
    expect((await get(id)).status).toBe('returned')
  })

  test('that is recalled starts its run again until the recall is answered', async () => {
    const { id, run, params } = await aRun({ amountEuros: 888.03 })
    await run.untilEnded()
    const first = (await run.handle.describe()).runId
    await bodyOf(client.transfers.recall({ params, body: { reason: 'Twice' } }))
    await until('another run waits', async () => {
      const { runId, status } = await run.handle.describe()
      return runId !== first && status.name === 'RUNNING'
    })
    await run.untilDetails('completed, recalled')
    await bodyOf(client.transfers.simulateReturn({ body: { transferId: id, reasonCode: 'FOCR' } }))
    expect(await run.untilEnded()).toBe('returned')
    await proveLedger()
  })
})

describe('a signal to a transfer', () => {
  test('confirms the payee, and the record and audit trail name who sent it', async () => {
    const { id, run } = await aWaiting()
    await run.signal('confirmPayee', { by: 'Ada Lovelace', comment: 'Known to us' })
    expect(await run.untilEnded()).toBe('completed')
    expect(await auditOf(id)).toContain('payment.updated by operator Ada Lovelace')
    expect(await run.details()).toContain('Signal confirmPayee by Ada Lovelace: done.')
  })

  test('cancels the transfer and ends the run', async () => {
    const { id, run } = await aWaiting()
    await run.signal('cancel', { by: 'Ada', comment: 'Wrong payee' })
    expect(await run.untilEnded()).toBe('cancelled')
    expect((await get(id)).reason).toEqual({ code: 'cancelled', message: 'Wrong payee' })
    expect((await auditOf(id))[0]).toBe('transfer.failed by operator Ada')
  })

  test('that comes too late changes nothing and says so', async () => {
    const { id, run } = await aRun({ amountEuros: 777.06 })
    await untilStatus(id, 'submitted')
    await run.signal('cancel', { by: 'Ada' })
    await run.untilDetails(
      'The signal cancel by Ada changed nothing: The transfer has already been submitted.',
    )
    expect((await get(id)).status).toBe('submitted')
  })

  test.each(['confirmPayee', 'cancel'])('%s with a wrong payload changes nothing and says so', async verb => {
    const { id, run } = await aWaiting()
    await run.signal(verb, { by: 7 })
    await run.untilDetails(`A signal ${verb} was ignored`)
    expect((await get(id)).status).toBe('verifying')
    expect(await run.failedTasks()).toBe(0)
  })
})

describe('the test clock', () => {
  test('ends the wait for an unconfirmed payee, and its run', async () => {
    const other = await service.owner()
    const { id, workflowId } = await aSepaTransfer(other.client, { name: 'No Match GmbH' })
    const run = temporal.of({ workflowId })
    await run.untilBegun()
    await run.untilDetails('waits for confirmPayee')
    await bodyOf(other.client.sandbox.advance({ body: { days: 7 } }))
    expect(await run.untilEnded()).toBe('cancelled')
    expect((await bodyOf(other.client.transfers.get({ params: { id } }))).reason?.code).toBe(
      'payee_not_confirmed',
    )
  })

  test('makes the run inquire about an instant payment after ten seconds', async () => {
    const other = await service.owner()
    const transfer = await aSepaTransfer(other.client, { amountEuros: 777.02, scheme: 'sct_inst' })
    const run = temporal.of(transfer)
    await run.untilBegun()
    await run.untilDetails('submitted, indeterminate')
    await bodyOf(other.client.sandbox.advance({ body: { seconds: 10 } }))
    expect(rail.count('statusOf', transfer.id)).toBe(1)
    expect(rail.count('submit', transfer.id)).toBe(1)
    await bodyOf(other.client.transfers.simulateReject({ body: { transferId: transfer.id } }))
    expect(await run.untilEnded()).toBe('rejected')
    await expectVerifiedLedger(other.client)
  })
})
