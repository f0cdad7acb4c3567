import { type Html, html } from '../../web/html.ts'
import type { States } from '../openapi/types.ts'

/** The states of a noun and the steps between them. */
export const statesSection = (states: States): Html =>
  html`${Object.entries(states).map(
    ([noun, table]) => html`
<figure class="states">
  <figcaption>The states of ${article(noun)} ${noun}</figcaption>
  <ol>${Object.entries(table).map(step)}</ol>
</figure>`,
  )}`

const step = ([from, next]: [string, readonly string[]], index: number): Html => html`
<li><b class="state">${from}</b>${index === 0 && html` <small>at first</small>`}
${next.length > 0 ? html`<span class="becomes">becomes</span> ${next.map(one => html`<span class="state">${one}</span> `)}` : html`<small>for good</small>`}</li>`

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? 'an' : 'a')
