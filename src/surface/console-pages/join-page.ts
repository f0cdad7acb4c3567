import { type Html, html } from '../../web/html.ts'
import type { Language } from '../../web/language.ts'
import { scripts } from './assets.ts'
import { layout } from './layout.ts'
import { texts } from './texts.ts'

/** Where somebody who was given a link joins, and where a passkey is made. */
export function joinPage(language: Language): Html {
  const { join, signIn } = texts[language]
  return layout({
    language,
    title: join.title,
    root: './',
    script: scripts.join,
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
