import { findCustomer } from '../../../identity/customers/index.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { Problem } from '../../../kernel/contract/problem.ts'
import { offsetOf } from '../../../kernel/database/tenant-clock.ts'
import { payableWallets, sepaAccountOf } from '../../../money/wallets/index.ts'
import { clock } from '../../../values/clock.ts'
import { dueEuros, isPayable, PaymentRequest } from '../request.ts'
import { RequestPayment } from '../request-payment.ts'
import { tenantOfRequest } from '../request-rows.ts'
import { mppUrlOf } from '../response.ts'
import type { AskedTransfer } from './epc-code.ts'
import type { RequestView } from './page.ts'
import type { PageState } from './texts.ts'

type ViewContext = Pick<Context, 'sql' | 'records' | 'ports' | 'tenant' | 'actFor' | 'now'>

/** What a payer is shown of a request of any owner; undefined where there is none of this id. */
export async function viewOf(id: string, context: ViewContext): Promise<RequestView | undefined> {
  const { sql, records, actFor } = context
  const tenant = await tenantOfRequest(sql, id)
  if (!tenant) return undefined
  actFor(tenant)
  const [request, underWay, payee, offset] = await Promise.all([
    records.findOneOrFail(PaymentRequest, { id }),
    records.findOne(RequestPayment, { requestId: id, status: 'under_way' }),
    findCustomer(records, tenant.ownerId),
    tenant.mode === 'test' ? offsetOf(sql, tenant) : 0,
  ])
  const state = stateOf(request, underWay !== null, clock.tenant(offset))
  const { description: purpose, amountEuros, paidEuros, expiresAt } = request
  const ways =
    state === 'open'
      ? { transfer: await transferOf(request, context), program: programOf(request, context) }
      : { transfer: null, program: null }
  const isTest = tenant.mode === 'test'
  return { id, state, isTest, payee: payee.name, purpose, amountEuros, paidEuros, expiresAt, ...ways }
}

/** A payment that is under way is told before anything else; a deadline counts from its instant on. */
function stateOf(request: PaymentRequest, isUnderWay: boolean, now: Date): PageState {
  if (request.status !== 'open') return request.status
  if (isUnderWay) return 'under_way'
  return isPayable(request, now) ? 'open' : 'expired'
}

async function transferOf(
  request: PaymentRequest,
  { sql, tenant, ports }: ViewContext,
): Promise<AskedTransfer | null> {
  const [wallet] = await payableWallets(sql, tenant, { ids: [request.walletId] })
  const account = wallet && wallet.status !== 'closed' && sepaAccountOf(wallet, ports.collection)
  if (!account) return null
  const { holder: name, iban, bic } = account
  return { name, iban, bic, amountEuros: dueEuros(request), reference: request.reference }
}

function programOf(request: PaymentRequest, context: ViewContext): RequestView['program'] {
  const { ports, tenant } = context
  try {
    ports.acquirer(tenant.mode)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
  return { mppUrl: mppUrlOf(request.id, context), payUrl: `${ports.publicUrl()}/v1/mpp/pay` }
}
