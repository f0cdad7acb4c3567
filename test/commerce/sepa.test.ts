import { describe, expect, test } from '@jest/globals'
import { minutes } from '../../src/values/clock.ts'
import { recordingRail } from '../support/commerce/rail.ts'
import { sepaIn } from '../support/commerce/sepa.ts'
import {
  aBeneficiary,
  aLiveClient,
  anAgent,
  aSepaTransfer,
  aToken,
  aWallet,
  bodyOf,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'
import './sepa/sepa-limits.ts'
import './sepa/sepa-return.ts'

const rail = recordingRail()
const service = await startTestService({ outside: { sepaRail: () => rail.rail } })
const { anOwner } = sepaIn(service)
const bare = await startTestService()

describe('a transfer by SEPA', () => {
  test.each(['sct', 'sct_inst'] as const)(
    'by %s is held, verified, submitted and completed',
    async scheme => {
      const { client, get, wallet, pass, events, postings } = await anOwner()
      const { id: fromWalletId } = await aWallet(client, 20)
      const payee = await aBeneficiary(client)
      const { status, body } = await client.transfers.create({
        body: {
          fromWalletId,
          beneficiaryId: payee.id,
          amountEuros: 12.34,
          scheme,
          reference: 'Rechnung für März — №7',
        },
      })
      expect(status).toBe(201)
      expect(body).toMatchObject({
        kind: 'sepa',
        scheme,
        status: 'created',
        amountEuros: 12.34,
        fromWalletId,
        toWalletId: null,
        beneficiaryId: payee.id,
        intentId: null,
        payeeCheck: null,
        reason: null,
        recall: null,
        submittedAt: null,
        completedAt: null,
        transactionId: null,
        parts: null,
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
      expect([rail.acceptedCount(id), rail.count('submit', id)]).toEqual([1, 1])
      await expectVerifiedLedger(client)
    },
  )

  test('reaches the rail as it was when it was made, in the characters of SEPA', async () => {
    const { client, pass } = await anOwner()
    const payee = await aBeneficiary(client, { bic: 'COBADEFFXXX' })
    const { id } = await aSepaTransfer(client, { beneficiaryId: payee.id, reference: 'Öl' })
    const body = { name: 'Somebody else', iban: 'NL91ABNA0417164300', bic: null }
    await bodyOf(client.beneficiaries.update({ params: { id: payee.id }, body }))
    let submitted: unknown
    const { submit } = rail.rail
    rail.rail.submit = (payment, call) => {
      submitted = payment
      return submit(payment, call)
    }
    await pass({ minutes: 1 })
    rail.rail.submit = submit
    expect(submitted).toMatchObject({
      endToEndId: id.slice('transfer_'.length),
      amountCents: 1_250n,
      payerIban: expect.stringMatching(/^DE/),
      payee: { name: 'Baeckerei Mueller', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
      reference: 'Oel',
    })
  })

  test('is found by its payee, its kind and its state', async () => {
    const { client } = await anOwner()
    const { id, beneficiaryId } = await aSepaTransfer(client)
    await aSepaTransfer(client)
    const ids = async (query: object) =>
      (await bodyOf(client.transfers.list({ query }))).data.map(one => one.id)
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

  test('is refused without a beneficiary or money, from a frozen or closed wallet, and for agents', async () => {
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
    await bodyOf(client.wallets.update({ params: { id: rich.id }, body: { status: 'frozen' } }))
    expect(await code(rich.id)).toBe('wallet_frozen')
    await bodyOf(client.wallets.close({ params: { id: poor.id } }))
    expect(await code(poor.id)).toBe('wallet_closed')
    await client.beneficiaries.delete({ params: { id: beneficiaryId } })
    expect(await code(rich.id)).toBe('beneficiary_not_found')
    const { token } = await aToken(client, (await anAgent(client)).id)
    const body = { fromWalletId: rich.id, beneficiaryId, amountEuros: 1 }
    expect((await service.client(String(token)).transfers.create({ body })).status).toBe(403)
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

  test('is made and submitted once under one idempotency key', async () => {
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
    expect(rail.acceptedCount(String([...ids][0]))).toBe(1)
  })
})

describe('the steps of a transfer', () => {
  test('follow the tenant’s clock, and none happens before it is due', async () => {
    const { client, get, pass } = await anOwner()
    const { id, createdAt } = await aSepaTransfer(client, { amountEuros: 777.01 })
    await pass({ minutes: 1 })
    const { submittedAt } = await get(id)
    expect(Date.parse(String(submittedAt)) - Date.parse(createdAt)).toBeLessThan(minutes(1))
    await pass({ minutes: 59 })
    expect((await get(id)).status).toBe('submitted')
  })
})
