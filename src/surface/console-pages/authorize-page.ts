import {
  type AuthorizationRequest,
  type CheckedAuthorization,
  isOnThisMachine,
  redirectPlace,
} from '../../control/oauth/index.ts'
import { type Html, html, htmlToText } from '../../web/html.ts'
import type { Language } from '../../web/language.ts'
import { consolePageScripts } from './assets.ts'
import { noticePage, renderConsolePageLayout, type SignedInViewer } from './layout.ts'
import { consolePageTexts } from './texts.ts'

const NAME = 100

interface NamedAgent {
  readonly id: string
  readonly name: string
}

export interface AuthorizeView {
  readonly request: AuthorizationRequest
  readonly ticket: string
  readonly agents: readonly NamedAgent[]
  /** The agent as which the client reads already: then the page asks only for what is new. */
  readonly reads?: NamedAgent | undefined
  /** The tenant's time: a test clock may be ahead of the browser's. */
  readonly now: Date
  readonly host: string
  readonly mayConnect: boolean
  readonly deniedUrl: string
  readonly isTest: boolean
  readonly viewer: SignedInViewer
}

interface HowToConnect {
  readonly viewer: SignedInViewer
  readonly address: string
}

/** Third parties choose the name, so it never stands alone: the page says whether anything proves it. */
export function renderAuthorizePage(view: AuthorizeView, language: Language): Html {
  const { authorize, frame } = consolePageTexts[language]
  const { client } = view.request
  const isVerified = client.host !== null
  return renderConsolePageLayout({
    language,
    title: authorize.title,
    root: '../',
    script: consolePageScripts.authorize,
    viewer: view.viewer,
    isTest: view.isTest,
    content: html`
<div id="authorize" data-ticket="${view.ticket}" data-now="${view.now.toISOString()}">
  <p class="mark ${isVerified ? 'approved' : 'unknown'}">${authorize.marks[isVerified ? 'verified' : 'unverified']}</p>
  <h1 id="heading" tabindex="-1">${authorize.title}</h1>
  <p class="lead"><bdi>${htmlToText(client.name, NAME)}</bdi> ${authorize.asks}</p>
  ${!isVerified && html`<p class="test">${authorize.unverified}</p>`}
  ${whoAsks(view, language)}
  ${view.mayConnect ? choices(view, language) : html`<p class="test">${authorize.mayNot(frame.roles[view.viewer.role])}</p>`}
  ${view.isTest && html`<p class="test">${frame.test}</p>`}
  <p class="home"><a href="${view.deniedUrl}" rel="noreferrer">${authorize.deny}</a></p>
</div>`,
  })
}

const placeOf = (address: string, language: Language): string =>
  isOnThisMachine(address) ? consolePageTexts[language].authorize.thisMachine : redirectPlace(address)

function whoAsks({ request }: AuthorizeView, language: Language): Html {
  const { authorize } = consolePageTexts[language]
  const { client, redirectUri } = request
  return html`<section class="box" aria-labelledby="who">
  <h2 id="who">${authorize.who}</h2>
  <dl>
    <div><dt>${authorize.name}</dt><dd><bdi>${htmlToText(client.name, NAME)}</bdi></dd></div>
    ${client.host !== null && html`<div><dt>${authorize.host}</dt><dd>${client.host}</dd></div>`}
    <div><dt>${authorize.redirect}</dt><dd>${placeOf(redirectUri, language)}</dd></div>
  </dl>
</section>`
}

function choices(view: AuthorizeView, language: Language): Html {
  const { authorize } = consolePageTexts[language]
  const name = htmlToText(view.request.client.name, NAME)
  return html`<section class="box" aria-labelledby="grants">
  <h2 id="grants">${authorize.grants}</h2>
  <form class="choices" data-action="review" data-name="${name}" hidden>
    ${view.reads ? onlyNew(view.reads, name, language) : agentAndTools(view, language)}
    <p data-budget><label for="month">${authorize.perMonth}</label>
    <input id="month" name="perMonth" type="number" inputmode="decimal" min="0.01" max="100000" step="0.01" value="100"></p>
    <p data-budget><label for="payment">${authorize.perPayment}</label>
    <input id="payment" name="perPayment" type="number" inputmode="decimal" min="0.01" max="100000" step="0.01" value="25"></p>
    <p><label for="until">${authorize.until}</label>
    <select id="until" name="days">${([7, 30, 90, 365] as const).map(days => html`<option value="${days}"${days === 90 && html` selected`}>${authorize.days[days]}</option>`)}</select></p>
    <p data-budget><button type="submit" class="main">${authorize.review}</button></p>
    <p><button type="button" data-action="plain">${authorize.withoutBudget}</button>
    <span class="hint">${authorize.withoutBudgetHint}</span></p>
  </form>
  ${signature(language)}
</section>`
}

function agentAndTools({ agents, request }: AuthorizeView, language: Language): Html {
  const { authorize } = consolePageTexts[language]
  return html`<p><label for="agent">${authorize.agent}</label>
    <select id="agent" name="agentId"><option value="">${authorize.newAgent}</option>${agents.map(agent => html`<option value="${agent.id}">${htmlToText(agent.name, NAME)}</option>`)}</select>
    <span class="hint" data-hint="new">${authorize.newAgentHint}</span><span class="hint" data-hint="existing" hidden>${authorize.agentHint}</span></p>
    <p><label for="tools">${authorize.tools}</label>
    <select id="tools" name="tools">${request.mayPay && html`<option value="payer">${authorize.mayPay}</option>`}<option value="reader">${authorize.mayRead}</option></select></p>`
}

/** The client reads already, and asks for more (step-up). */
function onlyNew({ id, name }: NamedAgent, client: string, language: Language): Html {
  const { authorize } = consolePageTexts[language]
  return html`<p>${authorize.alreadyReads(client, htmlToText(name, NAME))}</p>
    <p><strong>${authorize.isNew}</strong></p>
    <input type="hidden" name="agentId" value="${id}"><input type="hidden" name="tools" value="payer">
    <p class="hint">${authorize.agentHint}</p>`
}

function signature(language: Language): Html {
  const { approve, authorize } = consolePageTexts[language]
  return html`<div data-signature hidden>
    <p id="signed">${authorize.youSign}</p>
    <blockquote lang="en" data-sentence aria-labelledby="signed"></blockquote>
    <button type="button" class="main" data-action="sign">${authorize.sign}</button>
    <p data-no-passkey hidden><a href="../join">${approve.noPasskey}</a></p>
    <p><button type="button" data-action="back">${authorize.back}</button></p>
  </div>`
}

export const renderHowToConnectPage = ({ address }: HowToConnect, language: Language): Html => {
  const { how, howText, howHosted } = consolePageTexts[language].authorize
  return noticePage(language, '../', {
    title: how,
    text: howText,
    link: html`<code class="long">${address}</code></p><p class="hint">${howHosted}`,
  })
}

export function renderUnauthorizedPage(
  checked: Extract<CheckedAuthorization, { invalid: string }>,
  language: Language,
): Html {
  const { invalid: title, invalidHints, answer } = consolePageTexts[language].authorize
  const text = invalidHints[checked.invalid]
  const page = { mark: '400', title, text }
  if (checked.invalid !== 'request_invalid') return noticePage(language, '../', page)
  const { error, answerAt } = checked
  return noticePage(language, '../', {
    ...page,
    link: html`<code>${error}</code></p><p class="home"><a href="${answerAt}" rel="noreferrer">${answer(placeOf(answerAt, language))}</a>`,
  })
}
