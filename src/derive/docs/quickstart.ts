import { type Html, html } from '../../web/html.ts'
import { inline } from './markdown.ts'
import { samples } from './panel.ts'
import { stepsFor } from './quickstart-steps.ts'

export const quickstartSection = (url: string): Html => html`
<section class="guide quickstart" id="quickstart" aria-labelledby="quickstart-title">
  <h2 id="quickstart-title"><a href="#quickstart">Pay something in three minutes</a></h2>
  <ol>${stepsFor(url).map(
    ({ title, text, curl, typescript, python }) => html`<li>
    <div class="text"><h3>${title}</h3><p>${inline(text)}</p></div>
    <div class="code">${samples({ curl, typescript, python })}</div>
  </li>`,
  )}</ol>
</section>`
