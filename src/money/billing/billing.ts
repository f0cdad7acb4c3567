import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { pendingEurosOf } from '../fundings/index.ts'
import { totalsOf } from '../ledger/index.ts'
import { PaymentMethod, paymentMethodMachine, paymentMethods } from '../payment-methods/index.ts'
import { referenceOf } from '../references/index.ts'
import { isPurse, mainWallet, payableWallets, sepaAccountOf } from '../wallets/index.ts'
import { acquirer, acquirerPaid } from './acquirer.ts'
import { acquirerApi } from './acquirer-api.ts'
import { billingApi } from './api.ts'
import { billingPersonal } from './personal.ts'
import { fundProcessor, withdrawFromProcessor } from './processor-deposit.ts'

const billing = implement(
  { ...billingApi, ...acquirerApi },
  {
    ...paymentMethods.handlers,
    acquirer,
    acquirerPaid,
    fundProcessor,
    withdrawFromProcessor,

    async balance(_, { sql, tenant }) {
      const totals = await totalsOf(sql, tenant)
      const { accounts: wallets, availableEuros, heldEuros } = totals('wallet')
      return {
        currency: 'EUR',
        availableEuros,
        heldEuros,
        pendingEuros: await pendingEurosOf(sql, tenant),
        unassignedEuros: totals('suspense').availableEuros,
        owedEuros: totals('receivable').availableEuros,
        wallets,
      }
    },

    async sepaDetails({ query }, context) {
      const { sql, tenant, ports, refuse } = context
      const walletId = query.walletId ?? (await mainWallet(context))?.id ?? ''
      const [wallet] = await payableWallets(sql, tenant, { ids: [walletId] })
      if (!wallet) return refuse('wallet_not_found')
      if (isPurse(wallet)) return refuse('wallet_of_card')
      if (wallet.status === 'closed') return refuse('wallet_closed')
      const account = sepaAccountOf(wallet, ports.collection)
      if (!account) return refuse('no_account')
      const reference = referenceOf(wallet.number)
      return { walletId: wallet.id, ...account, reference }
    },

    async processor(_, { sql, tenant }) {
      return { currency: 'EUR', balanceEuros: (await totalsOf(sql, tenant))('float').availableEuros }
    },
  },
)

export const billingArea = area(
  'Billing',
  'Your balance, payment methods, where to send money by SEPA, and the deposit at the card processor.',
  billing,
  { personal: billingPersonal, entities: [PaymentMethod], machines: [paymentMethodMachine] },
)
