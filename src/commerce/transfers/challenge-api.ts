import { z } from 'zod'
import { ChallengeRecord } from '../../identity/passkeys/index.ts'
import { post } from '../../kernel/contract/operation.ts'
import { checkPayment, payRefusals, transferMembers, walletRefusals } from './api.ts'
import { checkParts, partRefusals, splitMembers } from './split-api.ts'

const { wallet_not_found } = walletRefusals
const { beneficiary_not_found, intent_not_found } = payRefusals

/** The members that a payment into many wallets does not have. */
const ONE_PAYEE = ['toWalletId', 'beneficiaryId', 'scheme', 'intentId'] as const

const body = z
  .strictObject({
    ...transferMembers,
    amountEuros: transferMembers.amountEuros.optional(),
    parts: splitMembers.parts.optional(),
  })
  .superRefine((payment, context) => {
    const addIssue = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    const { parts, amountEuros } = payment
    if (parts === undefined) {
      if (amountEuros === undefined) addIssue('amountEuros', 'give it, or parts')
      return checkPayment(payment, context)
    }
    for (const name of ONE_PAYEE)
      if (payment[name] !== undefined) addIssue(name, 'a payment into many wallets has none')
    checkParts({ amountEuros, parts }, context)
  })

export const challengeApi = {
  challenge: post('/passkeys/transfers/challenge', {
    summary: 'Get what a passkey signs to pay from the console',
    description:
      'The body is that of `POST /transfers`, or of `POST /transfers/split`, with which the signature is then sent along. It is over the sum and every payee, with name, account and amount: once any of them is another one, it is worth nothing. It can be signed for five minutes, and used once. A key pays without; a signature that it brings is checked all the same.',
    tag: 'Passkeys',
    requires: 'passkeys',
    callers: ['key'],
    scope: 'transfers:create',
    limits: { bodyKiB: 256 },
    body,
    example: {
      fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      beneficiaryId: 'beneficiary_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 12.5,
      reference: 'Invoice 4711',
    },
    returns: [201, ChallengeRecord],
    fails: { wallet_not_found, beneficiary_not_found, intent_not_found, ...partRefusals },
  }),
}
