import { area } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { newId } from '../../values/ids.ts'
import { formatMoney } from '../../values/money.ts'
import { sumPendingFundings } from '../fundings/index.ts'
import { settleAcquirerCharge } from '../incoming/index.ts'
import {
  ACQUIRER_ACCOUNTS,
  lockBook,
  openBookForRecordedPayment,
  readLedgerTotals,
  shortfallMessage,
} from '../ledger/index.ts'
import {
  PaymentMethod,
  payerErasure,
  paymentMethodHandlers,
  paymentMethodMachine,
} from '../payment-methods/index.ts'
import { creditorReferenceFor } from '../references/index.ts'
import {
  findMainWallet,
  findPayableWallets,
  findSepaAccount,
  isPurse,
  walletsById,
} from '../wallets/index.ts'
import { acquirerApi, billingApi } from './api.ts'

const acquirer: HandlerOf<typeof acquirerApi.acquirer> = async (_, { sql, tenant }) => {
  const { availableCents: owedCents } = (await readLedgerTotals(sql, tenant))('clearing_acquirer')
  return { currency: 'EUR', owedCents }
}

const PAYOUT = { kind: 'collect_settle', causeType: 'acquirer_payout', accounts: ACQUIRER_ACCOUNTS } as const

const acquirerPaid: HandlerOf<typeof acquirerApi.acquirerPaid> = async ({ body }, context) => {
  const { sql, emit, refuse, queueStatement } = context
  const { amountCents, reference } = body
  const opened = await openBookForRecordedPayment(body, PAYOUT, context)
  if (opened instanceof Refusal) return opened
  const { book, cause, isBooked } = opened
  const owed = book.available('clearing_acquirer')
  if (isBooked) return { currency: 'EUR', owedCents: owed }
  if (amountCents > owed)
    return refuse(
      'above_owed',
      `amountEuros exceeds the ${formatMoney(owed)} that the acquirer owes for this owner. Record at most that.`,
    )
  settleAcquirerCharge({ amountCents, cause }, book)
  queueStatement(book.post(sql))
  const owedCents = book.available('clearing_acquirer')
  emit('acquirer.paid', { payoutId: reference, amountCents, owedCents })
  return { currency: 'EUR', owedCents }
}

/** Locks the float and a wallet, the oldest open one if none is named. */
async function lockAccounts(namedWalletId: string | null, context: ReadContext) {
  const { sql, tenant } = context
  const walletId = namedWalletId ?? (await findMainWallet(context))?.id ?? ''
  const [book, wallets] = await Promise.all([
    lockBook(sql, context, { wallets: [walletId], others: ['float'] }),
    walletsById(sql, tenant, [walletId]),
  ])
  return { book, wallet: wallets.get(walletId) }
}

/**
 * Moves money from a wallet to the float. The float is a deposit with the card processor, on which no
 * authorization depends.
 */
const fundProcessor: HandlerOf<typeof billingApi.fundProcessor> = async ({ body }, context) => {
  const { sql, emit, refuse, queueStatement } = context
  const { amountCents } = body
  const { book, wallet } = await lockAccounts(body.fromWalletId, context)
  if (!wallet) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  if (wallet.status === 'frozen') return refuse('wallet_frozen')
  if (!book.canPay(wallet.id, amountCents))
    return refuse('insufficient_funds', shortfallMessage(amountCents, book.available(wallet.id)))
  const cause = { type: 'processor_funding', id: newId('processorfunding') }
  book.move('processor_fund', wallet.id, 'float', amountCents, cause)
  queueStatement(book.post(sql))
  const balanceCents = book.available('float')
  emit('processor.funded', { walletId: wallet.id, amountCents, balanceCents })
  return { currency: 'EUR', balanceCents }
}

/** A frozen wallet can receive the money, too, since freezing only keeps money from leaving. */
const withdrawFromProcessor: HandlerOf<typeof billingApi.withdrawFromProcessor> = async (
  { body },
  context,
) => {
  const { sql, emit, refuse, queueStatement } = context
  const { amountCents } = body
  const { book, wallet } = await lockAccounts(body.toWalletId, context)
  if (!wallet) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  if (!book.canPay('float', amountCents))
    return refuse('insufficient_funds', shortfallMessage(amountCents, book.available('float')))
  const cause = { type: 'processor_withdrawal', id: newId('processorwithdrawal') }
  book.move('processor_withdraw', 'float', wallet.id, amountCents, cause)
  queueStatement(book.post(sql))
  const balanceCents = book.available('float')
  emit('processor.withdrawn', { walletId: wallet.id, amountCents, balanceCents })
  return { currency: 'EUR', balanceCents }
}

const billing = bindHandlers(
  { ...billingApi, ...acquirerApi },
  {
    ...paymentMethodHandlers.handlers,
    acquirer,
    acquirerPaid,
    fundProcessor,
    withdrawFromProcessor,

    async balance(_, { sql, tenant }) {
      const totals = await readLedgerTotals(sql, tenant)
      const { accounts: wallets, availableCents, heldCents } = totals('wallet')
      return {
        currency: 'EUR',
        availableCents,
        heldCents,
        pendingCents: await sumPendingFundings(sql, tenant),
        unassignedCents: totals('suspense').availableCents,
        owedCents: totals('receivable').availableCents,
        wallets,
      }
    },

    async sepaDetails({ query }, context) {
      const { sql, tenant, settings, refuse } = context
      const walletId = query.walletId ?? (await findMainWallet(context))?.id ?? ''
      const [wallet] = await findPayableWallets(sql, tenant, { ids: [walletId] })
      if (!wallet) return refuse('wallet_not_found')
      if (isPurse(wallet)) return refuse('wallet_of_card')
      if (wallet.status === 'closed') return refuse('wallet_closed')
      const account = findSepaAccount(wallet, settings.collection)
      if (!account) return refuse('no_account')
      const reference = creditorReferenceFor(wallet.number)
      return { walletId: wallet.id, ...account, reference }
    },

    async processor(_, { sql, tenant }) {
      return { currency: 'EUR', balanceCents: (await readLedgerTotals(sql, tenant))('float').availableCents }
    },
  },
)

export const billingArea = area(
  'Billing',
  'Your balance, payment methods, account details for SEPA, and the deposit at the card processor.',
  billing,
  {
    entities: [PaymentMethod],
    machines: [paymentMethodMachine],
    deadlines: [payerErasure],
  },
)
