import { type Html, html } from '../../web/html.ts'
import type { Language } from '../../web/language.ts'
import { scripts } from './assets.ts'
import { layout, type Viewer } from './layout.ts'
import { texts } from './texts.ts'

/** Where a person types the code of a device, sees what it asks for, and lets it in. The script fills in what was found. */
export function devicePage(
  { viewer, isTest }: { readonly viewer: Viewer; readonly isTest: boolean },
  language: Language,
): Html {
  const { device, frame } = texts[language]
  return layout({
    language,
    title: device.title,
    root: './',
    script: scripts.device,
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

/** What the device says of itself, and what it will be allowed. */
function details(language: Language): Html {
  const { device } = texts[language]
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
  const { approve, device, join } = texts[language]
  return html`<section class="box" aria-labelledby="decide">
  <h2 id="decide">${approve.decide}</h2>
  <p id="signed">${approve.youSign}</p>
  <blockquote lang="en" class="long" tabindex="0" data-sentence aria-labelledby="signed"></blockquote>
  <button type="button" class="main" data-action="approve">${device.approve}</button>
  <p data-no-passkey hidden><a href="join?to=device">${join.passkeyTitle}</a></p>
  <p class="deny"><button type="button" class="against" data-action="deny">${device.deny}</button></p>
</section>`
}
