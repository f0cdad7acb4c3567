import { html } from '../../../../web/html.ts'
import { pageScriptTag } from '../../browser/browser.ts'
import type { ConsolePage } from '../../page.ts'

const EXAMPLES = [
  'What is waiting?',
  'How much did we spend this month?',
  'Why was the last one refused?',
  'How much budget is left?',
]

export const canvasPage: ConsolePage = async request => ({
  title: 'Ask',
  content: html`<h1>Ask</h1>
<p class="lead">Ask in English about your agents and their spending. Requested changes become proposals; nothing changes until you apply one.</p>
<div class="talk" data-talk role="log" aria-label="Questions and answers" tabindex="0"></div>
${pageScriptTag(request, 'ask')}
<form data-ask method="dialog">
<p class="field"><label for="ask">Your question or request</label><textarea id="ask" name="message" rows="2" maxlength="10000" required>${request.query.message ?? ''}</textarea></p>
<button type="submit" class="main">Ask</button>
<p class="refusal" role="alert"></p>
</form>
<p class="examples">${EXAMPLES.map(one => html`<button type="button" class="small" data-example="${one}">${one}</button> `)}</p>`,
})
