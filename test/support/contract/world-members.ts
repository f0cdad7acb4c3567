import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { onboardingApi } from '../../../src/identity/onboarding/api.ts'
import { beneficiariesApi } from '../../../src/money/beneficiaries/api.ts'
import { serializeChallenge } from '../../../src/mpp/index.ts'
import { aChallenge } from '../commerce/challenges.ts'
import { challengeOf, credentialFor, pay } from '../commerce/machine-payer.ts'
import { sealTrail } from '../compliance/trail.ts'
import { aLink, signedInTo, tokenIn } from '../identity/console.ts'
import { aCodeToRedeem, aConsent, aTokenToRevoke } from './world-assistants.ts'
import { aSignedChangeRequest } from './world-change-requests.ts'
import { aChannelCode } from './world-channels.ts'
import { aCodeWithConsent, aFetchedDeviceCode, aWaitingUserCode } from './world-devices.ts'
import { aDisputeToDecide, aPaidTransaction, evidenceForDispute } from './world-disputes.ts'
import { aBankFile, aLostDebit, moneyInSuspense, thePlatformsCredit } from './world-incoming.ts'
import { aFetchedCode, anApprovedCode, aWaitingCode, doorkeeperOf } from './world-pairings.ts'
import {
  aDeletion,
  aDeputy,
  aLinkOf,
  anApproval,
  anEnrolment,
  anInvitation,
  aRegistration,
  aRevocation,
  aSignedMandate,
  aSignIn,
  aSignInLink,
  inThirtyDays,
  type Make,
  type WorldService,
} from './world-passkeys.ts'

import { aChangedProvider, anIdentityProvider, anSsoAnswer, ssoBrowser } from './world-sso.ts'

async function anAgent(make: Make): Promise<string> {
  const { id, walletId } = await make('POST', '/agents', { name: 'Shopper' })
  await make('POST', `/wallets/${walletId}/fund`, { amountEuros: 1_000 })
  return id
}

async function approvedIntent(make: Make, agentId: string, payee: object): Promise<string> {
  const { id } = await make('POST', '/intents', { agentId, amountEuros: 25, purpose: 'A book', ...payee })
  await make('POST', `/intents/${id}/approve`)
  return id
}

const SHOP = { merchant: 'shop.example.com' }

async function aShopper(make: Make) {
  const agentId = await anAgent(make)
  const { id: cardId } = await make('POST', '/cards', { agentId, usage: 'multi', displayName: 'Books' })
  return { agentId, cardId }
}

async function shoppersIntent(make: Make): Promise<{ intentId: string }> {
  const { agentId } = await aShopper(make)
  return { intentId: await approvedIntent(make, agentId, SHOP) }
}

const paying =
  (method: string) =>
  async (_make: Make, path: string, { url }: WorldService) => ({
    authorization: credentialFor(await challengeOf(url + path, { method })),
  })

async function aSession(make: Make, _path: string, service: WorldService) {
  const { id: ownerId } = await make('GET', '/customers/me')
  return (await signedInTo(service, { ownerId })).headers
}

const byDoorkeeper = async (make: Make, _path: string, service: WorldService) =>
  (await doorkeeperOf(make, service)).headers

/** Further headers that an operation needs, such as a payment, by operation. */
export const MADE_HEADERS: Readonly<
  Record<string, (make: Make, path: string, service: WorldService) => Promise<Record<string, string>>>
> = {
  'assistants.message': async () => ({ accept: 'application/json, text/event-stream' }),
  'console.signOut': aSession,
  'cliAuth.approve': byDoorkeeper,
  'oauth.challenge': byDoorkeeper,
  'oauth.approve': byDoorkeeper,
  'sessions.verify': byDoorkeeper,
  'sso.signIn': ssoBrowser,
  'keys.revokeCurrent': async make => {
    const { key } = await make('POST', '/keys', { name: 'Lost laptop', environment: 'sandbox' })
    return { authorization: `Bearer ${key}` }
  },
  'settlements.pay': paying('GET'),
  'settlements.payByPost': paying('POST'),
  'mppMerchants.get': paying('GET'),
  'mppMerchants.post': paying('POST'),
}

async function aPayer(make: Make) {
  const { agentId, cardId } = await aShopper(make)
  return { cardId, intentId: await approvedIntent(make, agentId, SHOP) }
}

const seal = (_make: Make, _path: string, service: WorldService): Promise<void> => sealTrail(service)

/** Preparations of the record of the path that take more than one call, by operation. */
export const MADE_BEFORE: Readonly<
  Record<string, (make: Make, path: string, service: WorldService) => Promise<unknown>>
> = {
  'audit.checkpoint': seal,
  'audit.consistency': seal,
  'audit.export': seal,
  'audit.proof': seal,
  'incoming.returnCredit': thePlatformsCredit,
  'intents.approval': anApproval,
  'onboarding.approve': async (_make, path, { sql }) => {
    const verified = `update onboarding_representatives set status = 'verified' where onboarding_id = $1`
    await sql(verified, [path.split('/').at(-2)])
  },
  'statements.export': async (make, _path, { sql }) => {
    const { id: walletId } = await make('POST', '/wallets', { name: 'Bookshop' })
    const { id } = await make('POST', '/statements', { walletId })
    // The only one of last month: at the end of a month, the world's clock makes others of it.
    const ofLastMonth = `
      update statements set period = to_char(covers_from - case when id = $1 then interval '1 month' else interval '2 years' end, 'YYYY-MM')
      where owner_id = (select owner_id from statements where id = $1)`
    await sql(ofLastMonth, [id])
  },
}

async function withdrawCompanies(make: Make): Promise<void> {
  const { data } = await make('GET', '/onboarding')
  for (const { id, endedAt } of data) if (endedAt === null) await make('POST', `/onboarding/${id}/withdraw`)
}

const aCompany = (representative: object) => ({
  ...onboardingApi.create.example,
  representatives: [representative],
})

/** Members that depend on each other or must be new in each request, by operation. */
export const MADE_MEMBERS: Readonly<
  Record<string, (make: Make, path: string, service: WorldService) => Promise<object>>
> = {
  'accessEvents.access': async (make, path) => {
    const { agentId } = await make('GET', path.replace(/\/access$/, ''))
    return { intentId: await approvedIntent(make, agentId, SHOP) }
  },
  'agentCredentials.create': aShopper,
  'assistants.message': async () => ({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  'audit.purge': async (make, _, service) => {
    await sealTrail(service)
    return { ownerId: (await make('GET', '/customers/me')).id, mode: 'test' }
  },
  'billing.acquirerPaid': async (make, _, { url }) => {
    const { id: walletId } = await make('POST', '/wallets', { name: 'Bookshop' })
    const asked = { walletId, amountEuros: 50, description: 'A book', expiresInHours: 1 }
    const { id } = await make('POST', '/collect/requests', asked)
    await pay(`${url}/collect/402/${id}`)
    return { ownerId: (await make('GET', '/customers/me')).id, reference: randomUUID() }
  },
  'channels.verify': aChannelCode,
  'cliAuth.challenge': aWaitingCode,
  'cliAuth.deny': aWaitingCode,
  'cliAuth.approve': anApprovedCode,
  'cliAuth.token': aFetchedCode,
  'console.createLink': aSignInLink,
  'sso.create': anIdentityProvider,
  'sso.update': aChangedProvider,
  'sso.signIn': anSsoAnswer,
  'sessions.lookup': aWaitingUserCode,
  'sessions.challenge': aWaitingUserCode,
  'sessions.deny': aWaitingUserCode,
  'sessions.verify': aCodeWithConsent,
  'sessions.token': aFetchedDeviceCode,
  'console.signIn': aSignIn,
  'console.redeemLink': async (make, _, service) => {
    const { id: ownerId } = await make('GET', '/customers/me')
    return { token: tokenIn((await aLink(service, { ownerId })).url) }
  },
  'checkout.confirm': shoppersIntent,
  'checkout.createSession': shoppersIntent,
  'checkout.credential': async make => {
    const merchantUrl = 'https://shop.example.com/checkout'
    return {
      token: (await make('POST', '/checkout/sessions', { ...(await shoppersIntent(make)), merchantUrl }))
        .token,
    }
  },
  'checkout.execute': async make => {
    const { id: walletId } = await make('POST', '/wallets', { name: 'Bookshop' })
    return { intentId: await approvedIntent(make, await anAgent(make), { walletId }) }
  },
  'credentials.create': shoppersIntent,
  'mandates.create': aSignedMandate,
  'changeRequests.approve': aSignedChangeRequest,
  'oauth.challenge': aConsent,
  'oauth.approve': aConsent,
  'oauth.token': aCodeToRedeem,
  'oauth.revoke': aTokenToRevoke,
  'mandates.options': async () => ({ expiresAt: inThirtyDays() }),
  'mpp.mint': async make => ({
    ...(await aPayer(make)),
    challenge: serializeChallenge(aChallenge()),
  }),
  'mpp.pay': aPayer,
  'paymentTokens.charge': async (make, path) => {
    const agentId = path.split('/').at(-2)
    const { id: recipientWalletId } = await make('POST', '/wallets', { name: 'Bookshop' })
    const body = { agentId, amountEuros: 5, recipientWalletId }
    const { token, intentId } = await make('POST', '/collect/payment-tokens', body)
    await make('POST', `/intents/${intentId}/approve`)
    return { paymentToken: token }
  },
  'rails.assign': aLostDebit,
  'rails.read': aBankFile,
  'receipts.update': async make => {
    const { id: walletId } = await make('POST', '/wallets', { name: 'Bookshop' })
    const intentId = await approvedIntent(make, await anAgent(make), { walletId })
    return { transactionId: (await make('POST', '/checkout/execute', { intentId })).transactionId }
  },
  // A representative has at most one open submission.
  'disputes.create': aPaidTransaction,
  'disputes.addEvidence': evidenceForDispute,
  'sandbox.disputeCard': aDisputeToDecide,
  'kyc.create': async make => {
    await withdrawCompanies(make)
    const person = { name: 'Ada Lovelace', dateOfBirth: '1985-12-10' }
    const { representatives } = await make('POST', '/onboarding', aCompany({ ...person, country: 'DE' }))
    return { ...person, representativeId: representatives[0].id }
  },
  // At most one is open at a time.
  'onboarding.create': async make => {
    await withdrawCompanies(make)
    return {}
  },
  'passkeys.registerOptions': anEnrolment,
  'passkeys.registerVerify': aRegistration,
  'passkeys.revoke': aRevocation,
  'gdpr.createDeletion': aDeletion,
  // A new subject, since an open export of the owner would be returned again.
  'gdpr.createExport': async make => {
    const { id } = await make('POST', '/beneficiaries', beneficiariesApi.create.example)
    return { subject: { type: 'beneficiary', id } }
  },
  'people.create': anInvitation({ name: 'Grace Hopper', role: 'approver' }),
  'people.link': aLinkOf,
  'deputies.create': aDeputy,
  'mpp.protect': async () => ({ merchant: `${randomUUID()}.example.com` }),
  // Only a captured payment can be refunded by its merchant.
  'refunds.create': async make => {
    const { cardId } = await aShopper(make)
    const asked = {
      cardId,
      amountEuros: 30,
      merchant: 'SQ *BOOKSHOP 1234 BERLIN',
      mcc: '5942',
      country: 'DE',
    }
    const { authorizationId } = await make('POST', '/simulate/card/authorize', asked)
    await make('POST', '/simulate/card/clear', { authorizationId, amountEuros: 30 })
    const { data } = await make('GET', `/transactions?cardId=${cardId}`)
    return { transactionId: data[0].id }
  },
  'incoming.payOut': (make, _, service) => moneyInSuspense(make, service),
  'fillerKeys.create': async () => ({
    publicKeyJwk: generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }),
  }),
}
