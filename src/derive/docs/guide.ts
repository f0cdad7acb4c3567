import { type Content, type Html, html } from '../../web/html.ts'
import { type Book, idOf } from './book.ts'
import { markdown } from './markdown.ts'
import { universalRefusals } from './refusals.ts'

export interface Guide {
  readonly id: string
  readonly title: string
  readonly content: Content
}

export const guidesOf = (book: Book): Guide[] =>
  book.document.info.description
    .split(/^## /m)
    .slice(1)
    .map(section => {
      const end = section.indexOf('\n')
      const title = section.slice(0, end)
      return {
        id: idOf(title),
        title,
        content: [markdown(section.slice(end)), title === 'Errors' && universalRefusals()],
      }
    })

export const leadOf = (book: Book): Content[] =>
  markdown(book.document.info.description.split(/^## /m)[0] ?? '')

export const guideSection = ({ id, title, content }: Guide): Html => html`
<section class="guide" id="${id}" aria-labelledby="${id}-title">
  <h2 id="${id}-title"><a href="#${id}">${title}</a></h2>
  ${content}
</section>`
