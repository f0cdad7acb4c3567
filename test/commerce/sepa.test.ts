import { describe, expect, test } from '@jest/globals'
import { minutes } from '../../src/kernel/clock.ts'
import {
  aBeneficiary,
  aLiveClient,
  anAgent,
  aPayment,
  aToken,
  aWallet,
  made,
  type TestClient,
} from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { recordingRail } from '../support/rail.ts'

const rail = recordingRail()
const house = await startHouse({ outside: { sepaRail: () => rail.rail } })
const bare = await startHouse()

/** Each owner has a clock of its own. */
async function anOwner() {
  const owner = await house.owner()
  const { client } = owner
  return {
    ...owner,
    get: (id: string) => made(client.transfers.get({ params: { id } })),
    wallet: (id: string) => made(client.wallets.get({ params: { id } })),
    /** Without Temporal a step is done by the sweep, and by the clock on its way. */
    pass: (span: { seconds: number } | { minutes: number } | { days: number }) =>
      made(client.sandbox.advance({ body: span })),
    events: async (transferId: string) => {
      const rows = await house.sql<{ told: string }>(
        `select event || ' ' || (data ->> 'status') as told from events where data ->> 'transferId' = $1 order by id`,
        [transferId],
      )
      return rows.map(({ told }) => told)
    },
    postings: async (transferId: string) =>
      (await made(client.ledger.transfers({ query: { referenceId: transferId } }))).data
        .map(({ kind }) => kind)
        .reverse(),
  }
}

const isProven = async (client: TestClient) =>
  expect(await made(client.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })

describe('a transfer by SEPA', () => {
  test.each(['sct', 'sct_inst'] as const)('by %s: held, verified, submitted, completed', async scheme => {
    const { client, get, wallet, pass, events, postings } = await anOwner()
    const { id: fromWalletId } = await aWallet(client, 20)
    const payee = await aBeneficiary(client)
    const { status, body } = await client.transfers.create({
      body: {
        ...{ fromWalletId, beneficiaryId: payee.id, amountEuros: 12.34, scheme },
        reference: 'Rechnung für März — №7',
      },
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      ...{ kind: 'sepa', scheme, status: 'created', amountEuros: 12.34, fromWalletId, toWalletId: null },
      ...{ beneficiaryId: payee.id, intentId: null, payeeCheck: null, reason: null, recall: null },
      ...{ submittedAt: null, completedAt: null, transactionId: null, parts: null },
      reference: expect.stringMatching(/^Rechnung fuer Maerz [A-Za-z0-9/?:().,'+ -]+$/),
      endToEndId: expect.stringMatching(/^[0-9a-z]{26}$/),
      workflowId: `transfer/${body?.id}`,
    })
    const id = String(body?.id)
    expect(await get(id)).toEqual(body)
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: 7.66, heldEuros: 12.34 })
    await pass({ minutes: 1 })
    expect(await get(id)).toMatchObject({
      status: 'completed',
      payeeCheck: { result: 'match', suggestedName: null },
      reason: null,
      submittedAt: expect.any(String),
      completedAt: expect.any(String),
    })
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: 7.66, heldEuros: 0 })
    expect(await events(id)).toEqual([
      'payment.updated created',
      'payment.updated verifying',
      'payment.updated verifying',
      'payment.updated submitted',
      'transfer.completed completed',
    ])
    expect(await postings(id)).toEqual(['hold', 'sepa_submit', 'sepa_settle'])
    expect([rail.taken(id), rail.count('submit', id)]).toEqual([1, 1])
    await isProven(client)
  })

  test('is told to the rail as it was when it was made, in the characters of SEPA', async () => {
    const { client, pass } = await anOwner()
    const payee = await aBeneficiary(client, { bic: 'COBADEFFXXX' })
    const { id } = await aPayment(client, { beneficiaryId: payee.id, reference: 'Öl' })
    const body = { name: 'Somebody else', iban: 'NL91ABNA0417164300', bic: null }
    await made(client.beneficiaries.update({ params: { id: payee.id }, body }))
    let told: unknown
    const { submit } = rail.rail
    rail.rail.submit = (payment, call) => {
      told = payment
      return submit(payment, call)
    }
    await pass({ minutes: 1 })
    rail.rail.submit = submit
    expect(told).toMatchObject({
      endToEndId: id.slice('transfer_'.length),
      amountEuros: 1_250n,
      payerIban: expect.stringMatching(/^DE/),
      payee: { name: 'Baeckerei Mueller', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
      reference: 'Oel',
    })
  })

  test('is found by its payee, its kind and its state', async () => {
    const { client } = await anOwner()
    const { id, beneficiaryId } = await aPayment(client)
    await aPayment(client)
    const ids = async (query: object) =>
      (await made(client.transfers.list({ query }))).data.map(one => one.id)
    expect(await ids({ beneficiaryId })).toEqual([id])
    expect(await ids({ kind: 'sepa', status: 'created' })).toHaveLength(2)
    expect(await ids({ kind: 'internal' })).toEqual([])
  })

  test.each([
    ['neither payee', { toWalletId: undefined }, 'toWalletId'],
    ['both payees', { beneficiaryId: 'beneficiary_1', toWalletId: 'wallet_2' }, 'beneficiaryId'],
    ['a scheme between wallets', { toWalletId: 'wallet_2', scheme: 'sct' }, 'scheme'],
    ['a scheme that is none', { beneficiaryId: 'beneficiary_1', scheme: 'swift' }, 'scheme'],
    ['a reference in no letters', { beneficiaryId: 'beneficiary_1', reference: '漢字' }, 'reference'],
    ['a reference that grows', { beneficiaryId: 'beneficiary_1', reference: 'ä'.repeat(71) }, 'reference'],
  ])('with %s is a 400 that names the field', async (_, members, field) => {
    const { client } = await anOwner()
    const body = { fromWalletId: 'wallet_1', amountEuros: 1, ...members }
    const { status, error } = await client.transfers.create({
      body: body as { fromWalletId: string; amountEuros: number },
    })
    expect([status, error]).toEqual([400, expect.stringMatching(new RegExp(`^${field}: `))])
  })

  test('is refused to nobody, out of nothing, from a frozen or closed wallet, and to agents', async () => {
    const { client } = await anOwner()
    const other = await anOwner()
    const [rich, poor] = [await aWallet(client, 10), await aWallet(client)]
    const { id: beneficiaryId } = await aBeneficiary(client)
    const code = async (fromWalletId: string, to = beneficiaryId) =>
      (await client.transfers.create({ body: { fromWalletId, beneficiaryId: to, amountEuros: 1 } })).code
    expect(await code(poor.id)).toBe('insufficient_funds')
    expect(await code(rich.id, 'beneficiary_1')).toBe('beneficiary_not_found')
    expect(await code(rich.id, (await aBeneficiary(other.client)).id)).toBe('beneficiary_not_found')
    expect(await code((await aWallet(other.client, 10)).id)).toBe('wallet_not_found')
    await made(client.wallets.update({ params: { id: rich.id }, body: { status: 'frozen' } }))
    expect(await code(rich.id)).toBe('wallet_frozen')
    await made(client.wallets.close({ params: { id: poor.id } }))
    expect(await code(poor.id)).toBe('wallet_closed')
    await client.beneficiaries.delete({ params: { id: beneficiaryId } })
    expect(await code(rich.id)).toBe('beneficiary_not_found')
    const { token } = await aToken(client, (await anAgent(client)).id)
    const body = { fromWalletId: rich.id, beneficiaryId, amountEuros: 1 }
    expect((await house.client(String(token)).transfers.create({ body })).status).toBe(403)
  })

  test('in live mode needs a rail, and wallets pay each other without one', async () => {
    const live = await aLiveClient(bare, await bare.owner())
    const [one, two] = [await aWallet(live), await aWallet(live)]
    const { id: beneficiaryId } = await aBeneficiary(live)
    const bodies = [{ beneficiaryId }, { toWalletId: two.id }]
    const answers = await Promise.all(
      bodies.map(to => live.transfers.create({ body: { fromWalletId: one.id, amountEuros: 1, ...to } })),
    )
    expect(answers.map(({ code }) => code)).toEqual(['sepa_rail_missing', 'insufficient_funds'])
    expect(answers[0]?.error).toContain('SEPA_RAIL')
    expect(answers[0]?.status).toBe(503)
  })

  test('with the same key is made once, and leaves once', async () => {
    const { client, pass, wallet } = await anOwner()
    const { id: fromWalletId } = await aWallet(client, 20)
    const { id: beneficiaryId } = await aBeneficiary(client)
    const body = { fromWalletId, beneficiaryId, amountEuros: 2 }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.transfers.create({ body, idempotencyKey: 'once' })),
    )
    const ids = new Set(answers.flatMap(answer => answer.body?.id ?? []))
    expect(ids.size).toBe(1)
    await pass({ minutes: 1 })
    expect((await wallet(fromWalletId)).availableEuros).toBe(18)
    expect(rail.taken(String([...ids][0]))).toBe(1)
  })
})

describe('what the payee’s bank says', () => {
  test.each([
    ['Close Adler GmbH', 'close_match', 'Adler GmbH'],
    ['No Match GmbH', 'no_match', null],
  ])('of %s keeps it waiting until it is confirmed', async (name, result, suggestedName) => {
    const { client, get, pass } = await anOwner()
    const { id } = await aPayment(client, { name })
    await pass({ minutes: 10 })
    expect(await get(id)).toMatchObject({ status: 'verifying', payeeCheck: { result, suggestedName } })
    const params = { id }
    const confirmed = await made(client.transfers.confirmPayee({ params, body: { comment: 'Known to us' } }))
    expect(confirmed).toMatchObject({ status: 'verifying', payeeConfirmedAt: expect.any(String) })
    expect((await client.transfers.confirmPayee({ params, body: {} })).code).toBe('payee_not_waiting')
    const { data } = await made(client.events.list({ query: { event: 'payment.updated', limit: 1 } }))
    expect(data[0]?.data).toMatchObject({ transferId: id, reason: 'Known to us' })
    await pass({ minutes: 1 })
    expect((await get(id)).status).toBe('completed')
  })

  test.each(['Unknown Person', 'Timeout GmbH', 'Garbled GmbH'])(
    'or does not say, of %s, holds nothing up',
    async name => {
      const { client, get, pass } = await anOwner()
      const { id } = await aPayment(client, { name })
      await pass({ minutes: 1 })
      expect(await get(id)).toMatchObject({ status: 'completed', payeeCheck: { result: 'not_possible' } })
    },
  )

  test('is waited upon for seven days, and then it is cancelled', async () => {
    const { client, get, pass, wallet } = await anOwner()
    const { id, fromWalletId } = await aPayment(client, { name: 'No Match GmbH' })
    await pass({ minutes: 1 })
    await pass({ days: 6 })
    expect((await get(id)).status).toBe('verifying')
    await pass({ days: 1 })
    expect(await get(id)).toMatchObject({
      status: 'cancelled',
      reason: { code: 'payee_not_confirmed', message: expect.stringContaining('in time') },
    })
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: 12.5, heldEuros: 0 })
    expect((await client.transfers.confirmPayee({ params: { id }, body: {} })).code).toBe('payee_not_waiting')
    await isProven(client)
  })

  test('of a match needs nobody’s word', async () => {
    const { client } = await anOwner()
    const { id } = await aPayment(client)
    expect((await client.transfers.confirmPayee({ params: { id }, body: {} })).code).toBe('payee_not_waiting')
  })
})

describe('to cancel', () => {
  test('frees the money and the day’s limit, once', async () => {
    const { client, get, pass, wallet, events, postings } = await anOwner()
    const { id, fromWalletId } = await aPayment(client)
    expect((await made(client.transfers.limits({}))).usedEuros).toBe(12.5)
    const params = { id }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => client.transfers.cancel({ params, body: { comment: 'Not needed' } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    expect(await get(id)).toMatchObject({
      status: 'cancelled',
      reason: { code: 'cancelled', message: 'Not needed' },
    })
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: 12.5, heldEuros: 0 })
    expect((await made(client.transfers.limits({}))).usedEuros).toBe(0)
    await pass({ minutes: 10 })
    expect(await events(id)).toEqual(['payment.updated created', 'transfer.failed cancelled'])
    expect(await postings(id)).toEqual(['hold', 'release'])
    expect(rail.calls.filter(({ reference }) => reference === id)).toEqual([])
    await isProven(client)
  })

  test('is refused for what has left, what is over and what is between wallets', async () => {
    const { client, pass } = await anOwner()
    const { id, fromWalletId } = await aPayment(client, { amountEuros: 777.06 })
    await pass({ minutes: 1 })
    const cancel = (of: string) => client.transfers.cancel({ params: { id: of }, body: {} })
    expect((await cancel(id)).code).toBe('transfer_not_cancellable')
    const other = await aPayment(client)
    await made(cancel(other.id))
    expect((await cancel(other.id)).error).toBe('The transfer is cancelled already.')
    const { id: toWalletId } = await aWallet(client)
    const { id: from } = await aWallet(client, 1)
    const within = await made(
      client.transfers.create({ body: { fromWalletId: from, toWalletId, amountEuros: 1 } }),
    )
    expect((await cancel(within.id)).code).toBe('transfer_not_cancellable')
    expect(fromWalletId).not.toBe(from)
  })

  test('while the payee’s bank is being asked: nothing is submitted', async () => {
    const { client, get, pass } = await anOwner()
    const { id } = await aPayment(client)
    rail.meanwhile('verifyPayee', call =>
      client.transfers.cancel({ params: { id: call.reference }, body: {} }),
    )
    await pass({ minutes: 1 })
    rail.mend()
    await pass({ minutes: 10 })
    expect(await get(id)).toMatchObject({ status: 'cancelled', payeeCheck: null })
    expect(rail.taken(id)).toBe(0)
  })

  test('while it is being submitted comes too late', async () => {
    const { client, get, pass } = await anOwner()
    const { id } = await aPayment(client)
    let code: string | undefined
    rail.meanwhile('submit', async call => {
      ;({ code } = await client.transfers.cancel({ params: { id: call.reference }, body: {} }))
    })
    await pass({ minutes: 1 })
    rail.mend()
    expect([code, (await get(id)).status]).toEqual(['transfer_not_cancellable', 'completed'])
  })

  test('by the wallet being frozen before it has left', async () => {
    const { client, get, pass, wallet } = await anOwner()
    const { id, fromWalletId } = await aPayment(client)
    await made(client.wallets.update({ params: { id: fromWalletId }, body: { status: 'frozen' } }))
    await pass({ minutes: 1 })
    expect(await get(id)).toMatchObject({ status: 'cancelled', reason: { code: 'wallet_frozen' } })
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: 12.5, heldEuros: 0 })
    expect(rail.taken(id)).toBe(0)
  })
})

describe('an amount of the sandbox', () => {
  test.each([
    [666.01, 'AC04', 'The payee’s account is closed.'],
    [666.02, 'AM04', 'There was not enough money at the payer’s bank.'],
    [666.03, 'RC01', 'The BIC of the payee’s bank is wrong.'],
    [666.04, 'MS03', 'The bank gives no reason.'],
    [666.05, 'AG01', 'Payments to this kind of account are not allowed.'],
    [666.06, 'AC06', 'The payee’s account is blocked.'],
  ])('€ %d is rejected: %s', async (amountEuros, code, message) => {
    const { client, get, pass, wallet, postings, events } = await anOwner()
    const { id, fromWalletId } = await aPayment(client, { amountEuros })
    await pass({ minutes: 1 })
    expect(await get(id)).toMatchObject({ status: 'rejected', reason: { code, message }, completedAt: null })
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: amountEuros, heldEuros: 0 })
    expect(await postings(id)).toEqual(['hold', 'sepa_submit', 'sepa_undo'])
    expect((await events(id)).at(-1)).toBe('transfer.failed rejected')
    expect((await made(client.transfers.limits({}))).usedEuros).toBe(0)
    await isProven(client)
  })

  test.each([
    [777.01, 'sct', { minutes: 90 }, 'completed'],
    [666.07, 'sct', { minutes: 90 }, 'rejected'],
    [777.03, 'sct', { minutes: 5 }, 'completed'],
    [777.03, 'sct_inst', { minutes: 5 }, 'completed'],
    [777.04, 'sct_inst', { minutes: 5 }, 'rejected'],
    [777.05, 'sct_inst', { seconds: 11 }, 'completed'],
  ] as const)('€ %d by %s ends after %j: %s', async (amountEuros, scheme, span, status) => {
    const { client, get, pass } = await anOwner()
    const { id } = await aPayment(client, { amountEuros, scheme })
    await pass({ minutes: 1 })
    expect((await get(id)).status).toBe('submitted')
    await pass(span)
    expect((await get(id)).status).toBe(status)
    expect([rail.taken(id), rail.count('submit', id)]).toEqual([1, 1])
    await isProven(client)
  })

  test('€ 777.02 is never answered: indeterminate, until a notice says how it ends', async () => {
    const { client, get, pass, events } = await anOwner()
    const { id } = await aPayment(client, { amountEuros: 777.02, scheme: 'sct_inst' })
    await pass({ minutes: 1 })
    const doubtful = { status: 'submitted', reason: { code: 'indeterminate' } }
    expect(await get(id)).toMatchObject(doubtful)
    await pass({ days: 30 })
    expect(await get(id)).toMatchObject(doubtful)
    expect(rail.count('submit', id)).toBe(1)
    expect(rail.count('statusOf', id)).toBeGreaterThan(20)
    expect(rail.count('statusOf', id)).toBeLessThan(50)
    expect((await events(id)).filter(told => told === 'payment.updated submitted')).toHaveLength(2)
    await made(client.transfers.simulateSettle({ body: { transferId: id } }))
    expect(await get(id)).toMatchObject({ status: 'completed', reason: null })
    await isProven(client)
  })

  test('€ 777.06 by sct_inst is indeterminate after ten seconds, by sct it is on its way', async () => {
    const { client, get, pass } = await anOwner()
    const instant = await aPayment(client, { amountEuros: 777.06, scheme: 'sct_inst' })
    const plain = await aPayment(client, { amountEuros: 777.06 })
    await pass({ minutes: 1 })
    expect((await get(instant.id)).reason).toBe(null)
    await pass({ seconds: 10 })
    expect((await get(instant.id)).reason?.code).toBe('indeterminate')
    await pass({ minutes: 10 })
    expect(await get(plain.id)).toMatchObject({ status: 'submitted', reason: null })
  })
})

describe('time', () => {
  test('is the tenant’s: nothing is done before it is due', async () => {
    const { client, get, pass } = await anOwner()
    const { id, createdAt } = await aPayment(client, { amountEuros: 777.01 })
    await pass({ minutes: 1 })
    const { submittedAt } = await get(id)
    expect(Date.parse(String(submittedAt)) - Date.parse(createdAt)).toBeGreaterThanOrEqual(minutes(1))
    await pass({ minutes: 59 })
    expect((await get(id)).status).toBe('submitted')
  })
})
