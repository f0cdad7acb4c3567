import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import {
  inputMetadataSchema,
  labelSchema,
  metadataSchema,
  recordHead,
  recordTimestamps,
  searchTextSchema,
} from '../../values/schemas.ts'
import { purseRefusal, walletKinds, walletMachine } from './wallet.ts'

const status = z.enum(walletMachine.states)

const balance = {
  availableCents: moneySchema.meta({ description: 'Amount that can be spent.' }),
  heldCents: moneySchema.meta({ description: 'Amount held for approved payments.' }),
}

export const WalletRecord = z
  .object({
    ...recordHead('wallet'),
    name: z.string(),
    kind: z.enum(walletKinds).meta({
      description:
        '`owner`: your own. `agent`: an agent spends from it. `card`: the purse of a card, which only that card pays from.',
    }),
    parentWalletId: id('wallet').nullable(),
    agentId: id('agent').nullable(),
    cardId: id('card')
      .nullable()
      .meta({ description: 'The card whose purse this is. Only that card pays from it.' }),
    iban: z
      .string()
      .nullable()
      .meta({
        description: 'The wallet’s own IBAN, for incoming transfers. A purse has none.',
        examples: ['DE58999900010000000001'],
      }),
    bic: z.string().nullable(),
    currency: z.literal('EUR'),
    status,
    ...balance,
    metadata: metadataSchema,
    ...recordTimestamps,
  })
  .meta({ id: 'Wallet' })

export const WalletEvent = z.object({
  walletId: id('wallet'),
  status,
  amountCents: moneySchema.optional(),
  balanceCents: moneySchema,
})

const fails = {
  wallet_not_found: notFound('wallet'),
  wallet_closed: [400, 'The wallet is closed.'],
} as const satisfies Record<string, RefusalSpec>

export const walletClosedEvent = { 'wallet.closed': declareEvent('A wallet has been closed.', WalletEvent) }

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'wallets:read' })
const writers = operationsFor({ callers: ['key'], scope: 'wallets:write' })

export const walletsApi = {
  create: writers.post('/wallets', {
    summary: 'Open a wallet',
    description: 'A child wallet has its own balance; no money moves between them automatically.',
    body: z.strictObject({
      name: labelSchema.meta({ examples: ['Research'] }),
      parentWalletId: id('wallet').nullable().default(null),
      metadata: inputMetadataSchema.default({}),
    }),
    example: { name: 'Research' },
    returns: [201, WalletRecord],
    fails: {
      parent_not_found: [404, 'parentWalletId: no such wallet.'],
      parent_not_usable: [400, 'parentWalletId: the wallet is closed, or belongs to an agent or a card.'],
    },
    emits: { 'wallet.created': declareEvent('A wallet has been opened.', WalletEvent) },
  }),
  list: readers.list('/wallets', {
    summary: 'List wallets',
    description:
      'Newest first, including purses of cards. Closed wallets are listed only with `status=closed`.',
    filters: {
      status: status.optional(),
      kind: z.enum(walletKinds).optional(),
      agentId: id('agent').optional(),
      cardId: id('card').optional(),
      parentWalletId: id('wallet').optional(),
      iban: searchTextSchema,
    },
    item: WalletRecord,
  }),
  get: readers.getOne('/wallets/{id}', 'a wallet', WalletRecord, {
    wallet_not_found: fails.wallet_not_found,
  }),
  update: writers.patch('/wallets/{id}', {
    summary: 'Rename a wallet, or freeze it',
    description:
      'No money leaves a frozen wallet, and SEPA transfers that are not submitted yet are cancelled; it can still receive money. The purse of a card is not frozen: freeze the card.',
    body: z
      .strictObject({
        name: labelSchema,
        status: z.enum(['active', 'frozen']),
        metadata: metadataSchema,
        ...widening.members,
      })
      .partial(),
    example: { status: 'frozen' },
    returns: [200, WalletRecord],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...fails,
      wallet_of_card: [
        400,
        'status: the wallet is the purse of a card. Freeze the card instead (POST /cards/{id}/freeze).',
      ],
    },
    emits: {
      ...widening.emits,
      'wallet.updated': declareEvent('A wallet has been renamed, frozen or unfrozen.', WalletEvent),
    },
  }),
  balance: readers.get('/wallets/{id}/balance', {
    readsClock: true,
    summary: 'Get the balance of a wallet, now or at a given time',
    query: z.strictObject({
      at: instant.optional().meta({ description: 'Time of the balance. Defaults to now.' }),
    }),
    returns: [200, z.object({ walletId: id('wallet'), at: instant, ...balance })],
    fails: { wallet_not_found: fails.wallet_not_found },
  }),
  close: writers.del('/wallets/{id}', {
    summary: 'Close a wallet',
    description:
      'Permanent. The wallet must be empty, with nothing held and no open child wallet. An agent’s wallet and a card’s purse close with the agent or the card.',
    returns: [200, WalletRecord],
    fails: {
      ...fails,
      wallet_not_empty: [400, 'The wallet is not empty. Move its money first.'],
      wallet_has_children: [400, 'The wallet has open child wallets. Close them first.'],
      wallet_of_card: purseRefusal(),
      wallet_of_agent: [400, 'The wallet belongs to an agent, and is closed when the agent is deleted.'],
    },
    emits: walletClosedEvent,
  }),
}
