import { area } from '../../../kernel/contract/area.ts'
import type { File } from '../../../kernel/contract/file.ts'
import { implement } from '../../../kernel/contract/operation.ts'
import { withHeaders } from '../../../kernel/contract/problem.ts'
import { languageOf } from '../../../web/language.ts'
import { payerPageApi } from './api.ts'
import { assetFile } from './assets.ts'
import { epcCode, qrSvg } from './epc-code.ts'
import { requestPage, unknownPage } from './page.ts'
import { viewOf } from './view.ts'

const HTML = 'text/html; charset=utf-8'
const BRIEFLY = 'private, max-age=10'

/** Stricter than for other pages: there is no script and no form. */
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
      return withHeaders<File>({ type: HTML, content }, { ...headersOf(language), 'Cache-Control': BRIEFLY })
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
    return withHeaders<File>({ type: 'image/svg+xml', content }, { 'Cache-Control': BRIEFLY })
  },

  async asset({ params }, { refuse }) {
    return (await assetFile(params.asset)) ?? refuse('asset_not_found')
  },
})

export const payerPageArea = area(
  'Payer Page',
  'The page for a person who is to pay a request: it needs no account and no script.',
  payerPage,
)
