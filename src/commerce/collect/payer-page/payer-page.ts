import { area } from '../../../kernel/contract/area.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { File } from '../../../kernel/contract/file.ts'
import { implement } from '../../../kernel/contract/operation.ts'
import { Problem, withHeaders } from '../../../kernel/contract/problem.ts'
import { payableWallets, sepaAccountOf } from '../../../money/wallets/index.ts'
import { clock } from '../../../values/clock.ts'
import { languageOf } from '../../../web/language.ts'
import { type PresentedRequest, presentedRequest } from '../payment-required/offer.ts'
import { dueCents, isPayable, mppUrlOf } from '../request.ts'
import { payerPageApi } from './api.ts'
import { epcCode, qrSvg, type RequestedTransfer } from './epc-code.ts'
import { assetFile, type RequestView, requestPage, unknownPage } from './page.ts'
import type { PageState } from './texts.ts'

type ViewContext = Pick<Context, 'sql' | 'ports' | 'tenant' | 'switchTenant'>

async function viewOf(id: string, context: ViewContext): Promise<RequestView | undefined> {
  const request = await presentedRequest(context.sql, id)
  if (!request) return undefined
  const { ownerId, mode, payee, description: purpose, amountCents, paidCents, expiresAt } = request
  context.switchTenant({ ownerId, mode })
  const state = stateOf(request)
  const transfer = state === 'open' ? await transferOf(request, context) : null
  const program = state === 'open' ? programOf(request, context) : null
  const isTest = mode === 'test'
  return { id, state, isTest, payee, purpose, amountCents, paidCents, expiresAt, transfer, program }
}

/**
 * A pending payment comes before the deadline. The deadline counts from its instant on, even if the sweep has
 * not run.
 */
function stateOf(request: PresentedRequest): PageState {
  if (request.status !== 'open') return request.status
  if (request.isUnderWay) return 'under_way'
  return isPayable(request, clock.tenant(request.offsetMs)) ? 'open' : 'expired'
}

async function transferOf(
  request: PresentedRequest,
  { sql, tenant, ports }: ViewContext,
): Promise<RequestedTransfer | null> {
  const [wallet] = await payableWallets(sql, tenant, { ids: [request.walletId] })
  const account = wallet && wallet.status !== 'closed' && sepaAccountOf(wallet, ports.collection)
  if (!account) return null
  const { holder: name, iban, bic } = account
  return { name, iban, bic, amountCents: dueCents(request), reference: request.reference }
}

function programOf({ id }: PresentedRequest, context: ViewContext): RequestView['program'] {
  const { ports, tenant } = context
  try {
    ports.acquirer(tenant.mode)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
  return { mppUrl: mppUrlOf(id, context), payUrl: `${ports.publicUrl()}/v1/mpp/pay` }
}

const HTML = 'text/html; charset=utf-8'
const SHORT_CACHE = 'private, max-age=10'

/** Stricter than on other pages, since this page has neither script nor form. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const headersOf = (language: string) => ({
  'Content-Language': language,
  'Content-Security-Policy': POLICY,
  Vary: 'Accept, Accept-Language',
})

const payerPage = implement(payerPageApi, {
  async page({ params }, context) {
    const { headers, refuse } = context
    const language = languageOf(headers['accept-language'])
    const view = await viewOf(params.id, context)
    if (view) {
      const content = requestPage(view, language).text
      return withHeaders<File>(
        { type: HTML, content },
        { ...headersOf(language), 'Cache-Control': SHORT_CACHE },
      )
    }
    const refusal = refuse('request_not_found')
    if (!headers.accept?.includes('text/html')) return refusal
    return withHeaders<File>(
      { type: HTML, content: unknownPage(language).text, refusal },
      headersOf(language),
    )
  },

  async qrCode({ params }, context) {
    const { refuse } = context
    const view = await viewOf(params.id, context)
    if (!view) return refuse('request_not_found')
    if (view.state === 'under_way') return refuse('payment_under_way')
    if (view.state !== 'open') return refuse('request_not_open')
    const code = view.transfer && epcCode(view.transfer)
    if (!code) return refuse('no_account')
    const content = qrSvg(code, `SEPA: ${view.id}`)
    return withHeaders<File>({ type: 'image/svg+xml', content }, { 'Cache-Control': SHORT_CACHE })
  },

  async asset({ params }, { refuse }) {
    return (await assetFile(params.asset)) ?? refuse('asset_not_found')
  },
})

export const payerPageArea = area(
  'Payer Page',
  'The page for a person who pays a request: it needs no account and no script.',
  payerPage,
)
