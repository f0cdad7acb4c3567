import { commands } from './commands.ts'

/** What a command carries out as well, with what an answer has given. */
const withinCommands = [
  'checkout.credential',
  'cliAuth.challenge cliAuth.start cliAuth.token',
  'console.redeemLink',
  'delegations.redeem',
  'intents.challenge',
  'mandates.options',
  'oauth.challenge oauth.register oauth.token',
  'passkeys.challenge passkeys.registerVerify',
  'sessions.begin sessions.challenge sessions.token',
  'transfers.challenge',
]

/** Why the others that change something cannot change who may spend, or how much. */
const others: Readonly<Record<string, readonly string[]>> = {
  'take something away, or stop it': [
    'agentCredentials.revoke agentCredentials.suspend',
    'agentTokens.revoke',
    'beneficiaries.delete',
    'cardRequests.cancel cardRequests.deny',
    'cards.close',
    'cliAuth.deny',
    'connectedAssistants.disconnect',
    'console.endSession console.signOut',
    'credentials.revoke',
    'delegations.revoke',
    'deputies.end',
    'fillerKeys.delete',
    'keys.revoke keys.revokeCurrent',
    'mandates.revoke',
    'oauth.revoke',
    'passkeys.revoke',
    'people.stopRecovery',
    'proposals.dismiss',
    'sessions.deny sessions.revoke',
    'sso.remove',
    'transfers.cancel transfers.recall',
    'wallets.close',
  ],
  'describe, notify or prove': [
    'audit.export',
    'beneficiaries.verify',
    'canvas.delete',
    'cards.update',
    'channels.configure channels.create channels.delete channels.update channels.verify',
    'customers.updateMe',
    'disputes.addEvidence disputes.create disputes.submit disputes.update disputes.withdraw',
    'evidence.create',
    'gdpr.archive gdpr.cancelDeletion gdpr.createDeletion gdpr.createExport gdpr.putConsent',
    'intents.verify',
    'kyc.create kyc.page kyc.upload',
    'onboarding.create onboarding.update onboarding.withdraw',
    'outcomes.create outcomes.update',
    'passkeys.rename',
    'push.create push.delete push.test',
    'receipts.create receipts.delete receipts.update',
    'risk.acknowledge',
    'runs.complete runs.fail runs.update',
    'statements.create',
    'transactions.update',
    'webhooks.activateSecret webhooks.create webhooks.delete webhooks.replay webhooks.replayDeadLetters',
    'webhooks.replayDeliveries webhooks.rotateSecret webhooks.test webhooks.update',
  ],
  'bring money in, or pay back at most what the payer has paid': [
    'billing.addPaymentMethod billing.fundProcessor billing.removePaymentMethod billing.setUpPaymentMethod',
    'billing.withdrawFromProcessor',
    'collect.cancel collect.create collect.refund collect.settle',
    'fund.create',
    'incoming.assignOwn',
    'mppKeys.rotate',
    'paymentTokens.charge',
    'refunds.cancel refunds.create',
    'settlements.pay settlements.payByPost',
  ],
  'pay on an approved intent, whose approval is judged': [
    'agentCredentials.resume',
    'checkout.confirm checkout.execute',
    'mpp.mint mpp.pay mpp.protect mpp.resolve mpp.unprotect',
    'paymentTokens.create paymentTokens.revoke',
  ],
  'name the key to which card data is encrypted, and each disclosure is judged': ['fillerKeys.create'],
  'let an agent go on that risk has stopped, under the same policy': ['risk.unfreeze'],
  'play the world outside in test mode': [
    'fund.act fund.simulateReverse',
    'incoming.simulate',
    'mppMerchants.get mppMerchants.post',
    'sandbox.authorizeCard sandbox.changeMobileWallet sandbox.clearCard sandbox.disputeCard sandbox.expireCard',
    'sandbox.incrementCard sandbox.refundCard sandbox.reverseCard sandbox.shipCard sandbox.voidCard',
    'transfers.simulateReject transfers.simulateReturn transfers.simulateSettle transfers.simulateVerify',
  ],
  'carry out an operation that a person has read, with that person’s rights': ['proposals.apply'],
  'show a signed-in person what they then sign': ['sessions.lookup'],
  'let people in whom an identity provider names; test/identity/sso tries who may configure one': [
    'sso.create sso.signIn sso.start sso.update',
  ],
  'prove that a person who was let in before is there again': ['console.signIn console.signInOptions'],
}

const namesIn = (lines: readonly string[]): string[] => lines.flatMap(line => line.split(' '))

/** Every operation that an owner's people, keys and agents can change something with, by what the property does with it. */
export const known: readonly (readonly [what: string, names: readonly string[]])[] = [
  ['commands', Object.keys(commands)],
  ['within commands', namesIn(withinCommands)],
  ...Object.entries(others).map(([why, lines]) => [why, namesIn(lines)] as const),
]
