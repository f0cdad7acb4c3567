import type { Context } from '../../kernel/contract/context.ts'
import { type Html, html, htmlToText } from '../../web/html.ts'
import type { Language } from '../../web/language.ts'
import { consolePageScripts } from './assets.ts'
import { noticePage, renderConsolePageLayout, type SignedInViewer } from './layout.ts'
import { consolePageTexts } from './texts.ts'

interface OfferedProvider {
  readonly id: string
  readonly name: string
  readonly issuer: string
}

/** An owner chooses the name, so the host says where the person continues. */
function providerButton({ id, name, issuer }: OfferedProvider, language: Language): Html {
  const { signIn } = consolePageTexts[language]
  return html`<p><button type="button" class="main" data-action="sso" data-provider="${id}"><bdi>${signIn.sso(htmlToText(name, 60))}</bdi></button></p>
  <p class="hint">${signIn.ssoHint(new URL(issuer).host)}</p>`
}

/** Offers a passkey, or a link whose token is behind the `#`, where only the script sees it. */
export function renderLoginPage(language: Language, provider?: OfferedProvider): Html {
  const { signIn } = consolePageTexts[language]
  return renderConsolePageLayout({
    language,
    title: signIn.title,
    root: './',
    script: consolePageScripts.login,
    content: html`
<section data-step="passkey" hidden>
  <h1 tabindex="-1">${signIn.title}</h1>
  ${provider && providerButton(provider, language)}
  <p class="lead">${signIn.lead}</p>
  <button type="button"${!provider && html` class="main"`} data-action="sign-in">${signIn.button}</button>
  <p class="hint">${signIn.other}</p>
  <p class="hint">${signIn.own} <a href="docs/guides/people#recovery">${signIn.recovery}</a>.</p>
</section>
<section data-step="link" hidden>
  <h1 tabindex="-1">${signIn.linkTitle}</h1>
  <p class="lead">${signIn.linkLead}</p>
  <button type="button" class="main" data-action="redeem">${signIn.linkButton}</button>
</section>`,
  })
}

/** An identity provider returns here. The script sends its answer. */
export function renderSsoCallbackPage(language: Language): Html {
  const { signIn } = consolePageTexts[language]
  return renderConsolePageLayout({
    language,
    title: signIn.title,
    root: '../../',
    script: consolePageScripts.callback,
    content: html`
<section data-step="wait" hidden>
  <h1 tabindex="-1">${signIn.callback}</h1>
  <p class="lead">${signIn.callbackLead}</p>
</section>
<section data-step="refused" hidden>
  <h1 tabindex="-1">${signIn.ssoRefused}</h1>
  <p class="lead">${signIn.ssoRefusedLead}</p>
  <p><a class="button" href="../../login">${signIn.again}</a></p>
</section>`,
  })
}

export function renderJoinPage(language: Language): Html {
  const { join, signIn } = consolePageTexts[language]
  return renderConsolePageLayout({
    language,
    title: join.title,
    root: './',
    script: consolePageScripts.join,
    content: html`
<section data-step="link" hidden>
  <h1 tabindex="-1">${join.title}</h1>
  <p class="lead">${join.lead}</p>
  <button type="button" class="main" data-action="redeem">${join.button}</button>
</section>
<section data-step="passkey" hidden>
  <h1 tabindex="-1">${join.passkeyTitle}</h1>
  <p class="lead">${join.passkeyLead}</p>
  <form method="dialog" data-action="enrol">
    <label for="passkey-name">${join.passkeyName}</label>
    <input id="passkey-name" name="name" maxlength="100" autocomplete="off" value="${join.passkeyDefault}" aria-describedby="passkey-name-hint" required>
    <p class="hint" id="passkey-name-hint">${join.passkeyNameHint}</p>
    <p><button class="main">${join.passkeyButton}</button></p>
  </form>
</section>
<section data-step="nothing" hidden>
  <h1 tabindex="-1">${join.title}</h1>
  <p class="lead">${join.noLink}</p>
  <p><a class="button" href="login">${signIn.title}</a></p>
</section>`,
  })
}

/** A person types the code of a device, and sees what the device requests. The script inserts that text. */
export function renderDevicePage(
  { viewer, isTest }: { readonly viewer: SignedInViewer; readonly isTest: boolean },
  language: Language,
): Html {
  const { device, frame } = consolePageTexts[language]
  return renderConsolePageLayout({
    language,
    title: device.title,
    root: './',
    script: consolePageScripts.device,
    viewer,
    isTest,
    content: html`
<section data-step="code" hidden>
  <h1 tabindex="-1">${device.title}</h1>
  <p class="lead">${device.lead}</p>
  <form method="dialog" data-action="look">
    <label for="user-code">${device.code}</label>
    <input id="user-code" name="code" maxlength="30" autocomplete="off" autocapitalize="characters" spellcheck="false" aria-describedby="user-code-hint" required>
    <p class="hint" id="user-code-hint">${device.codeHint}</p>
    <p><button class="main">${device.look}</button></p>
  </form>
</section>
<section data-step="device" data-types="${JSON.stringify(device.types)}" hidden>
  <h1 tabindex="-1">${device.question}</h1>
  <p class="test">${device.onlyIf}</p>
  ${details(language)}
  ${decision(language)}
</section>
<section data-step="approved" hidden>
  <h1 tabindex="-1">${device.approved}</h1>
  <p class="lead">${device.approvedHint}</p>
</section>
<section data-step="denied" hidden>
  <h1 tabindex="-1">${device.denied}</h1>
  <p class="lead">${device.deniedHint}</p>
</section>
${isTest && html`<p class="test">${frame.test}</p>`}
<p class="home"><a href="approve">${frame.home}</a></p>`,
  })
}

function details(language: Language): Html {
  const { device } = consolePageTexts[language]
  const row = (name: string, member: string) =>
    html`<div><dt>${name}</dt><dd><bdi data-device="${member}"></bdi></dd></div>`
  return html`<section class="box" aria-labelledby="details">
  <h2 id="details">${device.details}</h2>
  <dl>
    ${row(device.name, 'deviceName')}
    ${row(device.type, 'clientType')}
    ${row(device.id, 'deviceId')}
    ${row(device.shows, 'userCode')}
    ${row(device.address, 'address')}
    ${row(device.asked, 'createdAt')}
  </dl>
  <p data-bound hidden>${device.bound}</p>
  <p class="test" data-tool-writes hidden>${device.toolWrites}</p>
  <h2 id="rights">${device.rights}</h2>
  <p class="hint">${device.lasts}</p>
  <details>
    <summary><span data-count></span> ${device.scopes}</summary>
    <fieldset data-scopes aria-labelledby="rights"></fieldset>
  </details>
  <p class="hint" data-withheld hidden>${device.withheld} <span></span></p>
</section>`
}

function decision(language: Language): Html {
  const { approve, device, join } = consolePageTexts[language]
  return html`<section class="box" aria-labelledby="decide">
  <h2 id="decide">${approve.decide}</h2>
  <p id="signed">${approve.youSign}</p>
  <blockquote lang="en" class="long" tabindex="0" data-sentence aria-labelledby="signed"></blockquote>
  <button type="button" class="main" data-action="approve">${device.approve}</button>
  <p data-no-passkey hidden><a href="join?to=device">${join.passkeyTitle}</a></p>
  <p class="deny"><button type="button" class="against" data-action="deny">${device.deny}</button></p>
</section>`
}

/** Shown on a host without passkeys, with a link to the right one; undefined on the right host. */
export function renderWrongAddressPage(
  path: string,
  language: Language,
  { headers, ports }: Context,
): Html | undefined {
  const { frame } = consolePageTexts[language]
  const { origin, origins, unavailable } = ports.relyingParty()
  if (unavailable !== null)
    return noticePage(language, './', { title: frame.noPasskeysTitle, text: frame.noPasskeys })
  const asked = headers.host?.toLowerCase()
  if (asked === undefined || origins.some(own => new URL(own).host === asked)) return undefined
  return noticePage(language, './', {
    title: frame.otherHostTitle,
    text: frame.otherHost(new URL(origin).host),
    link: html`<a class="button" href="${ports.pageUrl(path)}" data-elsewhere>${frame.otherHostLink}</a>`,
    script: consolePageScripts.elsewhere,
  })
}
