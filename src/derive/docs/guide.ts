import { type Html, type HtmlContent, html } from '../../web/html.ts'
import { anchorId, type DocsBook, docsSectionAddress } from './book.ts'
import { renderMarkdown } from './markdown.ts'
import { DOCS_PARTS } from './parts.ts'
import { renderUniversalRefusals } from './refusals.ts'

export interface DescriptionSection {
  readonly id: string
  readonly title: string
  readonly content: HtmlContent
}

/** The address of a part of “How the API works”. */
export const ruleAddress = (id: string): string => `${docsSectionAddress(DOCS_PARTS.api.section)}#${id}`

export const descriptionTexts = (book: DocsBook): { id: string; title: string; text: string }[] =>
  book.document.info.description
    .split(/^## /m)
    .slice(1)
    .map(section => {
      const end = section.indexOf('\n')
      const title = section.slice(0, end)
      return { id: anchorId(title), title, text: section.slice(end) }
    })

export const descriptionSections = (book: DocsBook): DescriptionSection[] =>
  descriptionTexts(book).map(({ id, title, text }) => ({
    id,
    title,
    content: [renderMarkdown(text), title === 'Errors' && renderUniversalRefusals()],
  }))

export const descriptionLead = (book: DocsBook): HtmlContent[] =>
  renderMarkdown(book.document.info.description.split(/^## /m)[0] ?? '')

export const renderDescriptionSection = ({ id, title, content }: DescriptionSection): Html => html`
<section class="guide" id="${id}" aria-labelledby="${id}-title">
  <h2 id="${id}-title"><a href="#${id}">${title}</a></h2>
  ${content}
</section>`
