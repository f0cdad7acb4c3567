import { findCustomer } from '../../../identity/customers/index.ts'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { Problem } from '../../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { payableWallets, sepaAccountOf } from '../../../money/wallets/index.ts'
import { clock } from '../../../values/clock.ts'
import { dueEuros, isPayable, type PaymentRequest } from '../request.ts'
import { mppUrlOf } from '../request-rows.ts'
import type { AskedTransfer } from './epc-code.ts'
import type { RequestView } from './page.ts'
import type { PageState } from './texts.ts'

type Shown =
  | 'id'
  | 'status'
  | 'walletId'
  | 'description'
  | 'reference'
  | 'amountEuros'
  | 'paidEuros'
  | 'expiresAt'

/** The part of a request that its payer may know, with how far the clock of its owner is ahead. */
interface ShownRequest extends Tenant, Pick<PaymentRequest, Shown>, Row {
  readonly isUnderWay: boolean
  readonly offsetMs: number
}

const READ = `
select id, owner_id as "ownerId", mode, status, wallet_id as "walletId", description, reference,
  amount_cents as "amountEuros", paid_cents as "paidEuros", expires_at as "expiresAt",
  exists (select from request_payments p where (p.owner_id, p.mode, p.request_id)
    = (payment_requests.owner_id, payment_requests.mode, payment_requests.id) and p.status = 'under_way') as "isUnderWay",
  coalesce((select offset_ms from tenant_clocks c where (c.owner_id, c.mode)
    = (payment_requests.owner_id, payment_requests.mode)), 0)::float8 as "offsetMs"
from payment_requests where id = $1`

const findShown = async (sql: Sql, id: string): Promise<ShownRequest | undefined> =>
  (await sql<ShownRequest>(READ, [id]))[0]

type ViewContext = Pick<Context, 'sql' | 'records' | 'ports' | 'tenant' | 'actFor'>

/** What a payer is shown of a request of any owner; undefined where there is none of this id. */
export async function viewOf(id: string, context: ViewContext): Promise<RequestView | undefined> {
  const request = await findShown(context.sql, id)
  if (!request) return undefined
  const { ownerId, mode, description: purpose, amountEuros, paidEuros, expiresAt } = request
  context.actFor({ ownerId, mode })
  const state = stateOf(request)
  const isOpen = state === 'open'
  const [payee, transfer] = await Promise.all([
    findCustomer(context.records, ownerId),
    isOpen ? transferOf(request, context) : null,
  ])
  const program = isOpen ? programOf(request, context) : null
  const isTest = mode === 'test'
  return {
    id,
    state,
    isTest,
    payee: payee.name,
    purpose,
    amountEuros,
    paidEuros,
    expiresAt,
    transfer,
    program,
  }
}

/** A payment that is under way is told before anything else; a deadline counts from its instant on. */
function stateOf(request: ShownRequest): PageState {
  if (request.status !== 'open') return request.status
  if (request.isUnderWay) return 'under_way'
  return isPayable(request, clock.tenant(request.offsetMs)) ? 'open' : 'expired'
}

async function transferOf(
  request: ShownRequest,
  { sql, tenant, ports }: ViewContext,
): Promise<AskedTransfer | null> {
  const [wallet] = await payableWallets(sql, tenant, { ids: [request.walletId] })
  const account = wallet && wallet.status !== 'closed' && sepaAccountOf(wallet, ports.collection)
  if (!account) return null
  const { holder: name, iban, bic } = account
  return { name, iban, bic, amountEuros: dueEuros(request), reference: request.reference }
}

function programOf({ id }: ShownRequest, context: ViewContext): RequestView['program'] {
  const { ports, tenant } = context
  try {
    ports.acquirer(tenant.mode)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
  return { mppUrl: mppUrlOf(id, context), payUrl: `${ports.publicUrl()}/v1/mpp/pay` }
}
