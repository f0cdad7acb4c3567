import { describe, expect, test } from '@jest/globals'
import { approvers } from '../../support/cards/several-approvers.ts'
import { signatureOver } from '../../support/control/approvals.ts'
import { aBeneficiary, anAgentUnder, anIntent, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { peopleInConsole } from '../../support/identity/in-console.ts'
import { linkedChallenge, signed } from '../../support/identity/people.ts'

const service = await startTestService()

/** An agent for whose payments above € 20.00 an approver is asked, and a payee outside. */
async function aPayer() {
  const owner = await service.owner()
  // Older than the steps: an agent of today begins with steps.
  const older = await anAgentUnder(owner.client, { autoApproveLimitEuros: 100 })
  const [boss, approver] = await peopleInConsole(service, owner, ['owner', 'approver'])
  if (!boss || !approver) throw new Error('somebody is missing')
  const { client } = owner
  const agent = await anAgentUnder(client, { approval: [approvers(1)] })
  const { id: beneficiaryId } = await aBeneficiary(client)
  const pay = (members: object = {}, by = client) =>
    by.transfers.create({
      body: { fromWalletId: agent.walletId, beneficiaryId, amountEuros: 25, ...members },
    })
  return { client, boss, approver, older, agent, beneficiaryId, pay }
}

describe('a payment outside from the wallet of an agent whose policy asks several people', () => {
  test('is refused above the step without an intent, by a key and in the console', async () => {
    const { client, boss, agent, beneficiaryId, pay } = await aPayer()
    const policy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    const refused = {
      status: 400,
      code: 'approval_needed',
      error: `amountEuros: the policy “${policy.name}” (${policy.id}) asks people for payments to others above € 20.00, from every wallet. Declare an intent of ${agent.id}, which pays from its own wallet, have it approved, and pay on it.`,
    }
    expect(await pay()).toMatchObject(refused)
    const payment = { fromWalletId: agent.walletId, beneficiaryId, amountEuros: 25 }
    const challenge = await bodyOf(boss.client.transfers.challenge({ body: payment }))
    const webauthnAssertion = signed(challenge, boss.device)
    expect(await pay({ webauthnAssertion }, boss.client)).toMatchObject(refused)
    expect((await bodyOf(client.wallets.get({ params: { id: agent.walletId } }))).heldEuros).toBe(0)
  })

  test('is made up to the step, and between wallets', async () => {
    const { client, pay } = await aPayer()
    expect((await pay({ amountEuros: 20 })).status).toBe(201)
    const other = await aWallet(client)
    expect((await pay({ beneficiaryId: undefined, toWalletId: other.id })).status).toBe(201)
  })

  // Otherwise one key takes two calls: into a wallet without an agent, and from there to the payee.
  test('is refused above the step from every other wallet of the account', async () => {
    const { client, older, agent, pay } = await aPayer()
    const free = await aWallet(client)
    const lower = await anAgentUnder(client, { approval: [approvers(1, { aboveEuros: 15 })] })
    for (const { id: toWalletId } of [free, { id: older.walletId }])
      await bodyOf(pay({ beneficiaryId: undefined, toWalletId }))
    for (const fromWalletId of [free.id, older.walletId, agent.walletId]) {
      expect(await pay({ fromWalletId })).toMatchObject({ code: 'approval_needed' })
      expect(await pay({ fromWalletId, amountEuros: 16 })).toMatchObject({
        code: 'approval_needed',
        error: expect.stringContaining(
          `asks people for payments to others above € 15.00, from every wallet. Declare an intent of ${lower.id},`,
        ),
      })
      expect((await pay({ fromWalletId, amountEuros: 15 })).status).toBe(201)
    }
  })

  test('is made on an intent that they have approved', async () => {
    const { client, agent, approver, beneficiaryId, pay } = await aPayer()
    const { id } = await anIntent(client, agent.id, { beneficiaryId })
    expect(await pay({ intentId: id })).toMatchObject({ code: 'intent_not_approved' })
    const webauthnAssertion = await signatureOver(client, id, approver)
    await bodyOf(client.intents.approve({ params: { id }, body: { webauthnAssertion } }))
    expect((await pay({ intentId: id })).status).toBe(201)
  })
})

describe('a doubtful payee of a payment that several people approve', () => {
  /** A payment whose payee’s bank knows another name, asked for by the owner and approved by the approver. */
  async function aDoubtfulPayment(amountEuros: number) {
    const payer = await aPayer()
    const { client, boss, approver, agent, pay } = payer
    const { id: beneficiaryId } = await aBeneficiary(client, { name: 'No Match GmbH' })
    const { id: intentId } = await anIntent(boss.client, agent.id, { beneficiaryId, amountEuros })
    const webauthnAssertion = await signatureOver(client, intentId, approver)
    await bodyOf(client.intents.approve({ params: { id: intentId }, body: { webauthnAssertion } }))
    const { id } = await bodyOf(pay({ intentId, beneficiaryId, amountEuros }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    const confirm = (body: object = {}, by = client) => by.transfers.confirmPayee({ params: { id }, body })
    const challengeFor = async (by = client) => linkedChallenge(by, await confirm({}, by))
    return { ...payer, confirm, challengeFor }
  }

  test('is confirmed with the passkey of another person than the one who asked', async () => {
    const { boss, approver, confirm, challengeFor } = await aDoubtfulPayment(25)
    expect(await confirm()).toMatchObject({ status: 400, code: 'attestation_required' })
    expect(await confirm({}, boss.client)).toMatchObject({ status: 403, code: 'own_request' })
    const own = signed(await challengeFor(), boss.device)
    expect(await confirm({ webauthnAssertion: own })).toMatchObject({ status: 403, code: 'own_request' })
    const webauthnAssertion = signed(await challengeFor(), approver.device)
    expect(await bodyOf(confirm({ webauthnAssertion }))).toMatchObject({
      payeeConfirmedAt: expect.any(String),
    })
  })

  test('is confirmed in the console by another person', async () => {
    const { approver, confirm, challengeFor } = await aDoubtfulPayment(25)
    expect(await confirm({}, approver.client)).toMatchObject({ code: 'assertion_required' })
    const webauthnAssertion = signed(await challengeFor(approver.client), approver.device)
    expect((await confirm({ webauthnAssertion }, approver.client)).status).toBe(200)
  })

  test('is confirmed by a key alone up to the step', async () => {
    const { confirm } = await aDoubtfulPayment(20)
    expect((await confirm()).status).toBe(200)
  })
})
