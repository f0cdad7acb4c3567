import { checkAuthorization, keepWhileDecided, resourceOf } from '../../control/oauth/index.ts'
import { findSsoProvider } from '../../identity/sso/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { ResponseFile } from '../../kernel/contract/file.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { type Refusal, withHeaders } from '../../kernel/contract/problem.ts'
import type { RawRequest } from '../../kernel/contract/raw-request.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import type { Html } from '../../web/html.ts'
import { type Language, negotiateLanguage } from '../../web/language.ts'
import { consolePagesApi } from './api.ts'
import { renderApprovePage } from './approve-page.ts'
import { consolePageAsset } from './assets.ts'
import { renderAuthorizePage, renderHowToConnectPage, renderUnauthorizedPage } from './authorize-page.ts'
import { noticePage } from './layout.ts'
import { renderPairingPage } from './pairing-page.ts'
import {
  renderDevicePage,
  renderJoinPage,
  renderLoginPage,
  renderSsoCallbackPage,
  renderWrongAddressPage,
} from './sign-in-pages.ts'
import { consolePageTexts } from './texts.ts'
import {
  readApprovalView,
  readAuthorizeView,
  readPairingView,
  readWaitingView,
  signedInViewer,
} from './views.ts'
import { renderWaitingPage } from './waiting-page.ts'

const HTML = 'text/html; charset=utf-8'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

function answer(content: Html, language: Language, refusal?: Refusal) {
  const page = { type: HTML, content: content.text, ...(refusal ? { refusal } : {}) }
  return withHeaders<ResponseFile>(page, {
    'Content-Language': language,
    'Content-Security-Policy': POLICY,
    Vary: 'Accept, Accept-Language, Host',
  })
}

const languageIn = ({ headers }: Pick<RawRequest, 'headers'>): Language =>
  negotiateLanguage(headers['accept-language'])

function publicPage(path: string, page: (language: Language) => Html, context: Context) {
  const language = languageIn(context)
  return answer(renderWrongAddressPage(path, language, context) ?? page(language), language)
}

const withQuery = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const given = String(new URLSearchParams(definedOnly(query) as Record<string, string>))
  return given === '' ? path : `${path}?${given}`
}

function notFoundPage(
  refusal: Refusal,
  { unknown: title, unknownHint: text }: { readonly unknown: string; readonly unknownHint: string },
  language: Language,
  { headers }: Pick<RawRequest, 'headers'>,
  root: '../' | '../../' = '../',
) {
  if (!headers.accept?.includes('text/html')) return refusal
  return answer(noticePage(language, root, { mark: '404', title, text }), language, refusal)
}

const consolePages = bindHandlers(consolePagesApi, {
  async login({ query: { to, sso } }, context) {
    const found = sso === undefined ? undefined : await findSsoProvider(sso, context.sql)
    const provider =
      sso !== undefined && found ? { id: sso, name: found.name, issuer: found.issuer } : undefined
    const path = withQuery('/login', { to, sso })
    return publicPage(path, language => renderLoginPage(language, provider), context)
  },
  async ssoCallback({ params: { id } }, context) {
    if (await findSsoProvider(id, context.sql))
      return publicPage(`/sso/${id}/callback`, renderSsoCallbackPage, context)
    const language = languageIn(context)
    const { ssoRefused: unknown, ssoRemoved: unknownHint } = consolePageTexts[language].signIn
    const refusal = context.refuse('provider_not_found')
    return notFoundPage(refusal, { unknown, unknownHint }, language, context, '../../')
  },
  join: ({ query }, context) => publicPage(withQuery('/join', query), renderJoinPage, context),

  async waiting(_, context) {
    const language = languageIn(context)
    return answer(renderWaitingPage(await readWaitingView(context), language), language)
  },

  async approve({ params }, context) {
    const language = languageIn(context)
    const view = await readApprovalView(params.intentId, context)
    if (view) return answer(renderApprovePage(view, language), language)
    return notFoundPage(
      context.refuse('intent_not_found'),
      consolePageTexts[language].approve,
      language,
      context,
    )
  },

  device(_, context) {
    const language = languageIn(context)
    const { actor, tenant } = context
    return answer(
      renderDevicePage({ viewer: signedInViewer(actor), isTest: tenant.mode === 'test' }, language),
      language,
    )
  },

  async pairing({ params }, context) {
    const language = languageIn(context)
    const view = await readPairingView(params.code, context)
    if (view) return answer(renderPairingPage(view, language), language)
    return notFoundPage(
      context.refuse('pairing_not_found'),
      consolePageTexts[language].pairing,
      language,
      context,
    )
  },

  async authorize({ query }, context) {
    const language = languageIn(context)
    const viewer = signedInViewer(context.actor)
    if (Object.keys(query).length === 0)
      return answer(
        renderHowToConnectPage({ viewer, address: resourceOf(context.ports) }, language),
        language,
      )
    const checked = await checkAuthorization(query, context)
    if ('invalid' in checked) {
      const page = renderUnauthorizedPage(checked, language)
      return answer(page, language, context.refuse(checked.invalid))
    }
    await keepWhileDecided(checked.request.client.clientId, context.sql)
    return answer(renderAuthorizePage(await readAuthorizeView(checked.request, context), language), language)
  },

  async asset({ params }, { refuse }) {
    return (await consolePageAsset(params.asset)) ?? refuse('asset_not_found')
  },
})

export const consolePagesArea = area(
  'Pages for people',
  'Pages to sign in, join, approve intents, and connect devices with a passkey.',
  consolePages,
)
