import { type Content, type Html, html } from '../../web/html.ts'

/** The Markdown that our descriptions use: paragraphs, lists, tables, `code`, **strong**. */
export const markdown = (text: string): Html[] =>
  text
    .trim()
    .split(/\n{2,}/)
    .filter(Boolean)
    .map(block)

function block(text: string): Html {
  const lines = text.split('\n')
  if (lines[0]?.startsWith('|')) return table(lines)
  if (lines[0]?.startsWith('- '))
    return html`<ul>${items(text).map(item => html`<li>${inline(item)}</li>`)}</ul>`
  return html`<p>${inline(text)}</p>`
}

/** An item goes on in the lines below it. */
const items = (text: string): string[] => text.slice(2).split(/\n- /)

function table([head = '', _rule, ...rows]: readonly string[]): Html {
  return html`<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>
    <thead><tr>${cells(head).map(cell => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>
    <tbody>${rows.map(row => html`<tr>${cells(row).map(cell => html`<td>${inline(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`
}

const cells = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim())

export const inline = (text: string): Content[] =>
  text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map(part => {
    if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`
    if (part.startsWith('**')) return html`<strong>${part.slice(2, -2)}</strong>`
    return part
  })
