import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { aBeneficiary, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import type { Manner } from '../../support/identity/authenticator.ts'
import { peopleInConsole } from '../../support/identity/in-console.ts'
import { signed } from '../../support/identity/people.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService({ own: true })

async function aTreasurer() {
  const owner = await service.owner()
  const [person] = await peopleInConsole(service, owner, ['owner'])
  if (!person) throw new Error('nobody is there')
  const [from, to] = [await aWallet(owner.client, 100), await aWallet(owner.client, 0, { name: 'Rent' })]
  const beneficiary = await aBeneficiary(owner.client)
  const own = { fromWalletId: from.id, toWalletId: to.id, amountEuros: 25 }
  const sepa = { fromWalletId: from.id, beneficiaryId: beneficiary.id, amountEuros: 25 }
  return { ...owner, person, from, to, beneficiary, own, sepa }
}

type Body = NonNullable<Parameters<TestClient['transfers']['challenge']>[0]>['body']
type Treasurer = Awaited<ReturnType<typeof aTreasurer>>

const challengeFor = ({ person }: Pick<Treasurer, 'person'>, body: Body) =>
  bodyOf(person.client.transfers.challenge({ body }))

const signatureOver = async (treasurer: Pick<Treasurer, 'person'>, body: Body) =>
  signed(await challengeFor(treasurer, body), treasurer.person.device)

const availableIn = async (client: TestClient, id: string) =>
  (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros

describe('a payment from the console', () => {
  test('needs the passkey of the person, and one with a key does not', async () => {
    const { client, person, own, from } = await aTreasurer()
    const refused = await person.client.transfers.create({ body: own })
    expect(refused).toMatchObject({ status: 400, code: 'assertion_required' })
    const split = { fromWalletId: own.fromWalletId, parts: [{ walletId: own.toWalletId, amountEuros: 5 }] }
    expect(await person.client.transfers.split({ body: split })).toMatchObject({ code: 'assertion_required' })
    expect(await availableIn(client, from.id)).toBe(100)
    expect((await client.transfers.create({ body: own })).status).toBe(201)
    expect((await client.transfers.split({ body: split })).status).toBe(201)
  })

  test('is over the sum and the payee, to a wallet and to an account', async () => {
    const treasurer = await aTreasurer()
    const { person, own, sepa, to, from } = treasurer
    const [toWallet, toAccount] = [await challengeFor(treasurer, own), await challengeFor(treasurer, sepa)]
    const [wallet, account] = [`wallet ${to.id}`, 'IBAN DE89370400440532013000']
    expect(toWallet.sentence).toMatch(
      new RegExp(`^Pay € 25.00 from the wallet ${from.id}: € 25.00 to “Rent”`),
    )
    expect(toWallet.sentence).toContain(to.iban ? `IBAN ${to.iban}` : wallet)
    expect(toAccount.sentence).toBe(
      `Pay € 25.00 from the wallet ${from.id}: € 25.00 to “Bäckerei Müller” (${account}).`,
    )
    for (const [body, challenge] of [
      [own, toWallet],
      [sepa, toAccount],
    ] as const) {
      const webauthnAssertion = signed(challenge, person.device)
      const paid = await person.client.transfers.create({ body: { ...body, webauthnAssertion } })
      expect([paid.status, paid.code]).toEqual([201, undefined])
      const again = await person.client.transfers.create({ body: { ...body, webauthnAssertion } })
      expect(again).toMatchObject({ status: 400, code: 'challenge_used' })
    }
  })

  test('of another amount, to another payee or from another wallet is not what was signed', async () => {
    const treasurer = await aTreasurer()
    const { client, person, own, sepa, from } = treasurer
    const other = await aWallet(client, 50)
    const stranger = await aBeneficiary(client, { name: 'Mallory', iban: 'FR7630006000011234567890189' })
    const changed = [
      [own, { amountEuros: 26 }],
      [own, { toWalletId: other.id }],
      [own, { fromWalletId: other.id }],
      [own, { toWalletId: undefined, beneficiaryId: stranger.id }],
      [sepa, { beneficiaryId: stranger.id }],
      [sepa, { amountEuros: 24.99 }],
    ] as const
    for (const [body, change] of changed) {
      const webauthnAssertion = await signatureOver(treasurer, body)
      const answer = await person.client.transfers.create({ body: { ...body, ...change, webauthnAssertion } })
      expect(answer).toMatchObject({ status: 400, code: 'statement_outdated' })
    }
    const before = await signatureOver(treasurer, sepa)
    const iban = 'FR7630006000011234567890189'
    await bodyOf(client.beneficiaries.update({ params: { id: sepa.beneficiaryId }, body: { iban } }))
    const moved = await person.client.transfers.create({ body: { ...sepa, webauthnAssertion: before } })
    expect(moved).toMatchObject({ status: 400, code: 'statement_outdated' })
    expect(await availableIn(client, from.id)).toBe(100)
  })

  test('into many wallets is over the sum and all of them', async () => {
    const treasurer = await aTreasurer()
    const { client, person, from } = treasurer
    const wallets = await times(3, () => aWallet(client))
    const split = (amounts: readonly number[]) => ({
      fromWalletId: from.id,
      parts: amounts.map((amountEuros, n) => ({ walletId: String(wallets[n]?.id), amountEuros })),
    })
    const challenge = await challengeFor(treasurer, split([10, 20, 30]))
    expect(challenge.sentence).toMatch(/^Pay € 60.00 from .*€ 10.00 to .*€ 20.00 to .*€ 30.00 to /)
    const wrong = await person.client.transfers.split({
      body: { ...split([10, 21, 29]), webauthnAssertion: signed(challenge, person.device) },
    })
    expect(wrong).toMatchObject({ status: 400, code: 'statement_outdated' })
    const byShare = {
      fromWalletId: from.id,
      amountEuros: 10,
      parts: wallets.map(({ id }) => ({ walletId: id, share: 1 })),
    }
    const webauthnAssertion = await signatureOver(treasurer, byShare)
    expect((await person.client.transfers.split({ body: { ...byShare, webauthnAssertion } })).status).toBe(
      201,
    )
    expect(await person.client.transfers.split({ body: { ...byShare, webauthnAssertion } })).toMatchObject({
      code: 'challenge_used',
    })
    expect(await availableIn(client, from.id)).toBe(90)
    await expectVerifiedLedger(client)
  })

  test('is made once, however often its signature is sent at the same time', async () => {
    const treasurer = await aTreasurer()
    const { client, person, own, from } = treasurer
    const webauthnAssertion = await signatureOver(treasurer, own)
    const answers = await times(8, () =>
      person.client.transfers.create({ body: { ...own, webauthnAssertion } }),
    )
    expect(statusCounts(answers)).toEqual({ 201: 1, 400: 7 })
    expect(answers.flatMap(({ code }) => code ?? [])).toEqual(Array(7).fill('challenge_used'))
    expect(await availableIn(client, from.id)).toBe(75)
  })

  test('wrong eleven times at once is refused with 429 the last time, and right ones pay meanwhile and afterwards', async () => {
    await service.sql('delete from wrong_guesses')
    const treasurer = await aTreasurer()
    const { client, person, own, from } = treasurer
    const pay = async (manner: Manner = {}) => {
      const webauthnAssertion = signed(await challengeFor(treasurer, own), person.device, manner)
      return () => person.client.transfers.create({ body: { ...own, webauthnAssertion } })
    }
    const wrong = await times(11, () => pay({ isVerified: false }))
    const right = await pay()
    const [paid, ...answers] = await Promise.all([right, ...wrong].map(send => send()))
    expect(statusCounts(answers)).toEqual({ 401: 10, 429: 1 })
    const stopped = answers.find(({ status }) => status === 429)
    expect(stopped).toMatchObject({ code: 'rate_limited' })
    const seconds = Number(stopped?.headers.get('retry-after'))
    expect(seconds > 0 && seconds <= 600).toBe(true)
    const again = await pay({ isVerified: false })
    expect((await again()).code).toBe('rate_limited')
    expect([paid?.status, (await (await pay())()).status]).toEqual([201, 201])
    expect(await availableIn(client, from.id)).toBe(50)
  })

  test('a signature sent with a key is verified, too', async () => {
    const treasurer = await aTreasurer()
    const { client, own } = treasurer
    const webauthnAssertion = await signatureOver(treasurer, own)
    const other = await client.transfers.create({ body: { ...own, amountEuros: 26, webauthnAssertion } })
    expect(other).toMatchObject({ status: 400, code: 'statement_outdated' })
    const fresh = await signatureOver(treasurer, own)
    expect((await client.transfers.create({ body: { ...own, webauthnAssertion: fresh } })).status).toBe(201)
  })

  test('asks for a challenge with what can be paid, by name', async () => {
    const { person, own, from } = await aTreasurer()
    const unknown = 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz'
    const part = { walletId: own.toWalletId, amountEuros: 1 }
    const answerTo = async (body: object) => {
      const { status, code, error } = await person.client.transfers.challenge({ body: body as Body })
      return `${status} ${code}${code === 'invalid_request' ? `: ${error}` : ''}`
    }
    expect(await answerTo({ ...own, toWalletId: unknown })).toBe('404 wallet_not_found')
    expect(await answerTo({ ...own, fromWalletId: unknown })).toBe('404 wallet_not_found')
    expect(await answerTo({ fromWalletId: from.id, amountEuros: 1, beneficiaryId: 'beneficiary_x' })).toBe(
      '404 beneficiary_not_found',
    )
    expect(await answerTo({ fromWalletId: from.id, toWalletId: own.toWalletId })).toBe(
      '400 invalid_request: amountEuros: send amountEuros, or an amount in each part',
    )
    expect(await answerTo({ ...own, amountEuros: undefined, parts: [part] })).toBe(
      '400 invalid_request: toWalletId: not allowed in a split payment',
    )
    expect(await answerTo({ fromWalletId: from.id, amountEuros: 1, parts: [part] })).toMatch(
      /^400 invalid_request: parts\.0\.share/,
    )
    const tiny = {
      fromWalletId: from.id,
      amountEuros: 0.01,
      parts: [
        { ...part, share: 1 },
        { ...part, share: 1 },
      ],
    }
    expect(
      await answerTo({ ...tiny, parts: tiny.parts.map(({ walletId, share }) => ({ walletId, share })) }),
    ).toBe('400 part_of_nothing')
  })
})
