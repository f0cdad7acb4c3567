import { type Html, html } from '../../web/html.ts'
import type { Content } from './texts.ts'

/**
 * Agents choose these texts, and mail programs make a link of each text that reads like an address. The usual spelling of one that is
 * not to be opened stays legible.
 */
const withoutLinks = (text: string): string =>
  text.replaceAll('://', '[:]//').replaceAll(/(?<=[\p{L}\p{N}])\.(?=\p{L}{2})/gu, '[.]')

const unlinked = ({ title, facts, ...rest }: Content): Content => ({
  ...rest,
  title: withoutLinks(title),
  facts: facts.map(([label, value]) => [label, withoutLinks(value)]),
})

/** The text part and the HTML part of an e-mail, in each language of the message. Neither loads anything. */
export function emailParts(contents: readonly Content[]): { subject: string; text: string; html: string } {
  const shown = contents.map(unlinked)
  const [first] = shown
  const page = html`<!doctype html>
<html lang="${first?.language}"><head><meta charset="utf-8"><title>${first?.title}</title></head>
<body style="font-family: sans-serif; line-height: 1.5">${shown.map(htmlOf)}</body></html>`
  return {
    subject: shown.map(({ title }) => title).join(' / '),
    text: shown.map(textOf).join('\n\n--\n\n'),
    html: page.text,
  }
}

const textOf = ({ title, facts, link, notes }: Content): string =>
  [
    title,
    facts.map(([label, value]) => `${label}: ${value}`).join('\n'),
    ...(link ? [`${link.label}:\n${link.url}`] : []),
    ...notes,
  ].join('\n\n')

const htmlOf = ({ language, title, facts, link, notes }: Content): Html => html`<div lang="${language}">
<h1 style="font-size: 1.25em">${title}</h1>
<table>${facts.map(([label, value]) => html`<tr><th style="text-align: left; padding-right: 1em">${label}</th><td dir="auto">${value}</td></tr>`)}</table>
${link && html`<p><a href="${link.url}">${link.label}</a></p>`}
${notes.map(note => html`<p>${note}</p>`)}</div>`

/** Slack reads three characters of a text as its own markup. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const plainBlock = (text: string) => ({ type: 'section', text: { type: 'plain_text', text, emoji: false } })

/** Names are plain text, in which nothing becomes a link or notifies a channel. */
export const slackBody = ({ title, facts, link, notes }: Content) => ({
  text: slackText(title),
  blocks: [
    plainBlock([title, ...facts.map(([label, value]) => `${label}: ${value}`)].join('\n')),
    ...(link
      ? [
          {
            type: 'section',
            text: { type: 'mrkdwn', text: `<${slackText(link.url)}|${slackText(link.label)}>` },
          },
        ]
      : []),
    plainBlock(notes.join('\n')),
  ],
})

/** A `TextRun` shows its text as it is; a `TextBlock` or a `FactSet` would read Markdown in a name. */
const paragraph = (text: string, style: { readonly weight?: 'Bolder'; readonly size?: 'Medium' } = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...style }],
})

/** A message with an Adaptive Card, as incoming webhooks of Teams (Workflows) take it. */
export const teamsBody = ({ language, title, facts, link, notes }: Content) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        lang: language,
        fallbackText: title,
        body: [
          paragraph(title, { weight: 'Bolder', size: 'Medium' }),
          ...facts.map(([label, value]) => paragraph(`${label}: ${value}`)),
          ...notes.map(note => paragraph(note)),
        ],
        actions: link ? [{ type: 'Action.OpenUrl', title: link.label, url: link.url }] : [],
      },
    },
  ],
})
