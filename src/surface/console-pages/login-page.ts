import { type Html, html } from '../../web/html.ts'
import type { Language } from '../../web/language.ts'
import { scripts } from './assets.ts'
import { layout } from './layout.ts'
import { texts } from './texts.ts'

/** Where people sign in: by passkey, or by a link whose token stands behind the `#`, where only the script sees it. */
export function loginPage(language: Language): Html {
  const { signIn } = texts[language]
  return layout({
    language,
    title: signIn.title,
    root: './',
    script: scripts.login,
    content: html`
<section data-step="passkey" hidden>
  <h1 tabindex="-1">${signIn.title}</h1>
  <p class="lead">${signIn.lead}</p>
  <button type="button" class="main" data-action="sign-in">${signIn.button}</button>
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
