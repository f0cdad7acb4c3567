import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { File } from '../../kernel/contract/file.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { type Refusal, withHeaders } from '../../kernel/contract/problem.ts'
import type { Html } from '../../web/html.ts'
import { type Language, languageOf } from '../../web/language.ts'
import { consolePagesApi } from './api.ts'
import { approvePage } from './approve-page.ts'
import { assetFile } from './assets.ts'
import { notice } from './layout.ts'
import { pairingPage } from './pairing-page.ts'
import { devicePage, joinPage, loginPage, wrongAddressPage } from './sign-in-pages.ts'
import { texts } from './texts.ts'
import { readApproval, readPairing, readWaiting, viewerOf } from './views.ts'
import { waitingPage } from './waiting-page.ts'

const HTML = 'text/html; charset=utf-8'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

function answer(content: Html, language: Language, refusal?: Refusal) {
  const page = { type: HTML, content: content.text, ...(refusal ? { refusal } : {}) }
  return withHeaders<File>(page, {
    'Content-Language': language,
    'Content-Security-Policy': POLICY,
    Vary: 'Accept, Accept-Language, Host',
  })
}

const languageIn = ({ headers }: Pick<Context, 'headers'>): Language => languageOf(headers['accept-language'])

function publicPage(path: string, page: (language: Language) => Html, context: Context) {
  const language = languageIn(context)
  return answer(wrongAddressPage(path, language, context) ?? page(language), language)
}

const withNextPage = (path: string, to: string | undefined): string =>
  to === undefined ? path : `${path}?${new URLSearchParams({ to })}`

function notFoundPage(
  refusal: Refusal,
  { unknown: title, unknownHint: text }: { readonly unknown: string; readonly unknownHint: string },
  language: Language,
  { headers }: Pick<Context, 'headers'>,
) {
  if (!headers.accept?.includes('text/html')) return refusal
  return answer(notice(language, '../', { mark: '404', title, text }), language, refusal)
}

const consolePages = implement(consolePagesApi, {
  login: ({ query }, context) => publicPage(withNextPage('/login', query.to), loginPage, context),
  join: ({ query }, context) => publicPage(withNextPage('/join', query.to), joinPage, context),

  async waiting(_, context) {
    const language = languageIn(context)
    return answer(waitingPage(await readWaiting(context), language), language)
  },

  async approve({ params }, context) {
    const language = languageIn(context)
    const view = await readApproval(params.intentId, context)
    if (view) return answer(approvePage(view, language), language)
    return notFoundPage(context.refuse('intent_not_found'), texts[language].approve, language, context)
  },

  device(_, context) {
    const language = languageIn(context)
    const { actor, tenant } = context
    return answer(devicePage({ viewer: viewerOf(actor), isTest: tenant.mode === 'test' }, language), language)
  },

  async pairing({ params }, context) {
    const language = languageIn(context)
    const view = await readPairing(params.code, context)
    if (view) return answer(pairingPage(view, language), language)
    return notFoundPage(context.refuse('pairing_not_found'), texts[language].pairing, language, context)
  },

  async asset({ params }, { refuse }) {
    return (await assetFile(params.asset)) ?? refuse('asset_not_found')
  },
})

export const consolePagesArea = area(
  'Pages for people',
  'Pages to sign in, join, approve intents, and connect devices with a passkey.',
  consolePages,
)
