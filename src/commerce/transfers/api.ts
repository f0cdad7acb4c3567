import { z } from 'zod'
import { instant } from '../../kernel/clock.ts'
import { id } from '../../kernel/ids.ts'
import { euros, positiveEuros } from '../../kernel/money.ts'
import { type Failure, get, list, missing, post } from '../../kernel/operation.ts'
import { recordHead, recordTail, span } from '../../kernel/schemas.ts'
import { transferKinds, transferMachine } from './transfer.ts'

const status = z.enum(transferMachine.states)

/** One transfer is at most so much: a hundred million euros. */
export const HIGHEST = 10_000_000_000n

const reference = z
  .string()
  .trim()
  .min(1)
  .max(140)
  .meta({ description: 'What it is for, as the payee reads it.', examples: ['Budget of November'] })

export const TransferRecord = z
  .object({
    ...recordHead('transfer'),
    fromWalletId: id('wallet'),
    toWalletId: id('wallet').nullable(),
    kind: z.enum(transferKinds),
    amountEuros: euros,
    parts: z
      .array(z.object({ walletId: id('wallet'), amountEuros: euros }))
      .nullable()
      .meta({ description: 'Of a split: who gets what.' }),
    reference: z.string().nullable(),
    status,
    completedAt: instant.nullable(),
    ...recordTail,
  })
  .meta({ id: 'Transfer' })

export const TransferEvent = z.object({
  transferId: id('transfer'),
  fromWalletId: id('wallet'),
  toWalletId: id('wallet').nullable(),
  status,
  amountEuros: euros,
})

const fails = {
  wallet_not_found: [404, 'No such wallet: fromWalletId and the payees must be wallets of yours.'],
  same_wallet: [400, 'toWalletId: the money is in this wallet already.'],
  wallet_frozen: [400, 'fromWalletId: the wallet is frozen, nothing leaves it.'],
  wallet_closed: [400, 'The wallet is closed.'],
  insufficient_funds: [400, 'There is not enough in the wallet.'],
} as const satisfies Record<string, Failure>

export const transfersApi = {
  create: post('/transfers', {
    summary: 'Pay from a wallet into another one',
    description: 'Completed at once, or refused and nothing moved.',
    callers: ['key'],
    scope: 'transfers:create',
    run: 'hot',
    body: z.strictObject({
      fromWalletId: id('wallet'),
      toWalletId: id('wallet'),
      amountEuros: positiveEuros(HIGHEST),
      reference: reference.nullable().default(null),
    }),
    example: {
      fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      toWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 12.5,
      reference: 'Budget of November',
    },
    returns: [201, TransferRecord],
    fails,
    emits: { 'transfer.completed': TransferEvent },
  }),
  split: post('/transfers/split', {
    summary: 'Pay from a wallet into many',
    description:
      'All or nothing. Each part has an amount; or all have shares of `amountEuros`, and the cents that rounding leaves go to those who lost most by it.',
    callers: ['key'],
    scope: 'transfers:create',
    body: z
      .strictObject({
        fromWalletId: id('wallet'),
        amountEuros: positiveEuros(HIGHEST)
          .optional()
          .meta({ description: 'What is divided; with shares only.' }),
        parts: z
          .array(
            z.strictObject({
              walletId: id('wallet'),
              amountEuros: positiveEuros(HIGHEST).optional(),
              share: z.number().min(0.0001).max(1_000_000).multipleOf(0.0001).optional(),
            }),
          )
          .min(1)
          .max(1_000),
        reference: reference.nullable().default(null),
      })
      .superRefine(({ amountEuros, parts }, context) => {
        const byShare = amountEuros !== undefined
        parts.forEach((part, index) => {
          const [wanted, other] = byShare
            ? (['share', 'amountEuros'] as const)
            : (['amountEuros', 'share'] as const)
          const say = (name: string, message: string) =>
            context.addIssue({ code: 'custom', path: ['parts', index, name], message })
          if (part[wanted] === undefined)
            say(wanted, byShare ? 'every part needs a share of amountEuros' : 'every part needs its amount')
          if (part[other] !== undefined)
            say(other, byShare ? 'the parts are given by their shares' : 'a share is one of amountEuros')
        })
      }),
    example: {
      fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      parts: [
        { walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 15.5 },
        { walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 10 },
      ],
    },
    returns: [201, TransferRecord],
    fails: {
      ...fails,
      part_of_nothing: [400, 'amountEuros: too little to give every part a cent.'],
      too_much: [400, 'parts: together they are more than one transfer may be.'],
    },
    emits: { 'transfer.split.completed': TransferEvent },
  }),
  list: list('/transfers', {
    summary: 'List transfers',
    callers: ['key'],
    scope: 'transfers:read',
    filters: {
      status: status.optional(),
      kind: z.enum(transferKinds).optional(),
      fromWalletId: z.string().optional(),
      toWalletId: z.string().optional(),
      ...span,
    },
    item: TransferRecord,
  }),
  get: get('/transfers/{id}', {
    summary: 'Get a transfer',
    callers: ['key'],
    scope: 'transfers:read',
    returns: [200, TransferRecord],
    fails: { transfer_not_found: missing('transfer') },
  }),
}
