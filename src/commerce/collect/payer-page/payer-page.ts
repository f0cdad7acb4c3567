import { area } from '../../../kernel/contract/area.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { ResponseFile } from '../../../kernel/contract/file.ts'
import { bindHandlers } from '../../../kernel/contract/operation.ts'
import { Problem, withHeaders } from '../../../kernel/contract/problem.ts'
import { findPayableWallets, findSepaAccount } from '../../../money/wallets/index.ts'
import { clock } from '../../../values/clock.ts'
import { negotiateLanguage } from '../../../web/language.ts'
import { amountDueCents, isRequestPayable, requestPaymentUrl } from '../../payment-requests/index.ts'
import { findPayableRequest, type PayableRequest } from '../payment-required/offer.ts'
import { payerPageApi } from './api.ts'
import { type EpcTransfer, epcQrContent, qrCodeSvg } from './epc-code.ts'
import { type PayerPageView, payerPageAsset, renderPayerPage, renderUnknownRequestPage } from './page.ts'
import type { PayerPageState } from './texts.ts'

async function viewOf(id: string, context: Context): Promise<PayerPageView | undefined> {
  const request = await findPayableRequest(context.sql, id)
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
function stateOf(request: PayableRequest): PayerPageState {
  if (request.status !== 'open') return request.status
  if (request.isUnderWay) return 'under_way'
  return isRequestPayable(request, clock.tenant(request.offsetMs)) ? 'open' : 'expired'
}

async function transferOf(
  request: PayableRequest,
  { sql, tenant, settings }: Context,
): Promise<EpcTransfer | null> {
  const [wallet] = await findPayableWallets(sql, tenant, { ids: [request.walletId] })
  const account = wallet && wallet.status !== 'closed' && findSepaAccount(wallet, settings.collection)
  if (!account) return null
  const { holder: name, iban, bic } = account
  return { name, iban, bic, amountCents: amountDueCents(request), reference: request.reference }
}

function programOf({ id }: PayableRequest, context: Context): PayerPageView['program'] {
  const { systems, service, tenant } = context
  try {
    systems.acquirer(tenant.mode)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
  return { mppUrl: requestPaymentUrl(id, context), payUrl: `${service.publicUrl()}/v1/mpp/pay` }
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

const payerPage = bindHandlers(payerPageApi, {
  async page({ params }, context) {
    const { headers, refuse } = context
    const language = negotiateLanguage(headers['accept-language'])
    const view = await viewOf(params.id, context)
    if (view) {
      const content = renderPayerPage(view, language).text
      return withHeaders<ResponseFile>(
        { type: HTML, content },
        { ...headersOf(language), 'Cache-Control': SHORT_CACHE },
      )
    }
    const refusal = refuse('request_not_found')
    if (!headers.accept?.includes('text/html')) return refusal
    return withHeaders<ResponseFile>(
      { type: HTML, content: renderUnknownRequestPage(language).text, refusal },
      headersOf(language),
    )
  },

  async qrCode({ params }, context) {
    const { refuse } = context
    const view = await viewOf(params.id, context)
    if (!view) return refuse('request_not_found')
    if (view.state === 'under_way') return refuse('payment_under_way')
    if (view.state !== 'open') return refuse('request_not_open')
    const code = view.transfer && epcQrContent(view.transfer)
    if (!code) return refuse('no_account')
    const content = qrCodeSvg(code, `SEPA: ${view.id}`)
    return withHeaders<ResponseFile>({ type: 'image/svg+xml', content }, { 'Cache-Control': SHORT_CACHE })
  },

  async asset({ params }, { refuse }) {
    return (await payerPageAsset(params.asset)) ?? refuse('asset_not_found')
  },
})

export const payerPageArea = area(
  'Payer Page',
  'The page for a person who pays a request: it needs no account and no script.',
  payerPage,
)
