import { z } from 'zod'
import { assertionEvents, assertionRefusals } from '../../identity/passkeys/index.ts'
import { event } from '../../kernel/contract/events.ts'
import { type Failure, post } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { positiveEuros } from '../../values/money.ts'
import { MAX_TRANSFER, reference, signature, walletRefusals } from './api.ts'
import { SplitEvent, TransferRecord } from './schemas.ts'

export const partRefusals = {
  part_of_nothing: [400, 'amountEuros: too little to give every part a cent.'],
  too_much: [400, 'parts: together they are more than one transfer may be.'],
} as const satisfies Record<string, Failure>

const part = z.strictObject({
  walletId: id('wallet'),
  amountEuros: positiveEuros(MAX_TRANSFER).optional(),
  share: z.number().min(0.0001).max(1_000_000).multipleOf(0.0001).optional(),
})

export const splitMembers = {
  fromWalletId: id('wallet'),
  amountEuros: positiveEuros(MAX_TRANSFER)
    .optional()
    .meta({ description: 'What is divided; with shares only.' }),
  parts: z.array(part).min(1).max(1_000),
  reference: reference.nullable().default(null),
}

interface Parts {
  readonly amountEuros?: bigint | undefined
  readonly parts: readonly z.output<typeof part>[]
}

/** Adds what is wrong with the first part that has not its amount, or not its share. */
export function checkParts({ amountEuros, parts }: Parts, context: z.RefinementCtx): void {
  const byShare = amountEuros !== undefined
  const [required, excluded] = byShare
    ? (['share', 'amountEuros'] as const)
    : (['amountEuros', 'share'] as const)
  // Only the first wrong part is reported: the others are most likely wrong in the same way.
  const index = parts.findIndex(part => part[required] === undefined || part[excluded] !== undefined)
  const addIssue = (name: string, message: string) =>
    context.addIssue({ code: 'custom', path: ['parts', index, name], message })
  const wrong = parts[index]
  if (wrong && wrong[required] === undefined)
    addIssue(required, byShare ? 'every part needs a share of amountEuros' : 'every part needs its amount')
  if (wrong && wrong[excluded] !== undefined)
    addIssue(excluded, byShare ? 'the parts are given by their shares' : 'a share is one of amountEuros')
}

export const splitApi = {
  split: post('/transfers/split', {
    summary: 'Pay from a wallet into many',
    description:
      'All or nothing. Each part has an amount; or all have shares of `amountEuros`, and the cents that rounding leaves go to those who lost most by it.',
    callers: ['key'],
    scope: 'transfers:create',
    limits: { bodyKiB: 256 },
    signature: { challenge: '/passkeys/transfers/challenge', always: true },
    body: z.strictObject({ ...splitMembers, webauthnAssertion: signature }).superRefine(checkParts),
    example: {
      fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      parts: [
        { walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 15.5 },
        { walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 10 },
      ],
    },
    returns: [201, TransferRecord],
    fails: {
      ...walletRefusals,
      ...partRefusals,
      ...assertionRefusals,
    },
    emits: {
      'transfer.split.completed': event('A payment into many wallets is done.', SplitEvent),
      ...assertionEvents,
    },
  }),
}
