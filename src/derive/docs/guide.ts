import { type Html, type HtmlContent, html } from '../../web/html.ts'
import { anchorId, type DocsBook } from './book.ts'
import { renderMarkdown } from './markdown.ts'
import { renderUniversalRefusals } from './refusals.ts'

export interface DescriptionSection {
  readonly id: string
  readonly title: string
  readonly content: HtmlContent
}

export const descriptionSections = (book: DocsBook): DescriptionSection[] =>
  book.document.info.description
    .split(/^## /m)
    .slice(1)
    .map(section => {
      const end = section.indexOf('\n')
      const title = section.slice(0, end)
      return {
        id: anchorId(title),
        title,
        content: [renderMarkdown(section.slice(end)), title === 'Errors' && renderUniversalRefusals()],
      }
    })

export const descriptionLead = (book: DocsBook): HtmlContent[] =>
  renderMarkdown(book.document.info.description.split(/^## /m)[0] ?? '')

export const renderDescriptionSection = ({ id, title, content }: DescriptionSection): Html => html`
<section class="guide" id="${id}" aria-labelledby="${id}-title">
  <h2 id="${id}-title"><a href="#${id}">${title}</a></h2>
  ${content}
</section>`
