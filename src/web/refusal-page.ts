import { renderDocument } from './document.ts'
import { type Html, html } from './html.ts'
import type { Language } from './language.ts'
import { baseStyle, pageAsset, refusalStyle } from './page-assets.ts'

/** Servers of page assets must serve this style as well. */
export const refusalPageStyle = pageAsset('plain', 'css', `${baseStyle()}\n${refusalStyle()}`)

interface Words {
  readonly title: string
  readonly again: string
  readonly soon: (seconds: number) => string
  readonly request: string
  readonly missing: { readonly title: string; readonly lead: string; readonly docs: string }
  readonly database: {
    readonly title: string
    readonly lead: string
    readonly safe: string
    readonly todo: string
    readonly steps: readonly string[]
  }
}

const words: Readonly<Record<Language, Words>> = {
  en: {
    title: 'This page cannot be displayed',
    again: 'Try again',
    soon: seconds => `This page reloads in ${seconds} seconds.`,
    request: 'Request ID',
    missing: {
      title: 'There is no such page',
      lead: 'The address is misspelt, or from another version.',
      docs: 'Documentation',
    },
    database: {
      title: 'The database is unreachable',
      lead: 'The service is running but cannot read its data at the moment.',
      safe: 'No data is lost, and no payments are made in the meantime. Agents get the same answer, and payments in progress continue once the database is back.',
      todo: 'For operators',
      steps: [
        'Check that PostgreSQL is running and has disk space and free connections.',
        'Check that DATABASE_URL of the service points to it.',
        'GET /health and the log of the service show when it is back. No restart is needed.',
      ],
    },
  },
  de: {
    title: 'Diese Seite kann nicht angezeigt werden',
    again: 'Erneut versuchen',
    soon: seconds => `Diese Seite wird in ${seconds} Sekunden neu geladen.`,
    request: 'Anfrage-ID',
    missing: {
      title: 'Diese Seite gibt es nicht',
      lead: 'Die Adresse enthält einen Tippfehler oder stammt aus einer anderen Version.',
      docs: 'Dokumentation',
    },
    database: {
      title: 'Die Datenbank ist nicht erreichbar',
      lead: 'Der Dienst läuft, kann aber derzeit nicht auf seine Daten zugreifen.',
      safe: 'Es gehen keine Daten verloren, und bis dahin wird nichts bezahlt. Agenten erhalten dieselbe Antwort, und laufende Zahlungen werden fortgesetzt, sobald die Datenbank wieder erreichbar ist.',
      todo: 'Für Betreiber',
      steps: [
        'Prüfen Sie, ob PostgreSQL läuft und Speicherplatz und freie Verbindungen hat.',
        'Prüfen Sie, ob DATABASE_URL des Dienstes darauf verweist.',
        'GET /health und das Protokoll des Dienstes zeigen, wann sie wieder erreichbar ist. Ein Neustart ist nicht nötig.',
      ],
    },
  },
}

interface Refused {
  readonly code: string
  readonly status: number
  readonly message: string
  readonly root: string
  readonly retryAfter: number | undefined
  readonly requestId: string
}

/** An open page waits at least this long before it reloads, since the service may be overloaded. */
const LEAST_SECONDS = 10

/** Serves a page that is refused before its session is known. It calls no operation. */
export function renderRefusalPage(refused: Refused, language: Language): Html {
  const { code, status, message, root, retryAfter, requestId } = refused
  const { title, again, soon, request, missing, database } = words[language]
  const isAway = code === 'unavailable'
  const isMissing = code === 'not_found'
  const own = isAway ? database : isMissing ? missing : undefined
  const heading = own?.title ?? title
  const againIn = isAway || retryAfter !== undefined ? Math.max(LEAST_SECONDS, retryAfter ?? 0) : undefined
  return renderDocument({
    language,
    title: heading,
    style: `${root}console/assets/${refusalPageStyle.name}`,
    head: againIn !== undefined && html`<meta http-equiv="refresh" content="${againIn}">`,
    body: html`<main>
<p class="code">${status}</p>
<h1>${heading}</h1>
${own ? html`<p class="lead">${own.lead}</p>` : html`<p class="lead" lang="en">${message}</p>`}
${isAway && html`<p>${database.safe}</p>`}
${againIn !== undefined && html`<p role="status">${soon(againIn)}</p>`}
${isAway && helpOf(database)}
<p>${isMissing ? html`<a class="again" href="${root}console">Console</a> <a class="again" href="${root}docs">${missing.docs}</a>` : html`<a class="again" href="">${again}</a>`}</p>
<p class="request">${request} <code>${requestId}</code></p>
</main>`,
  })
}

const helpOf = ({ todo, steps }: Words['database']): Html =>
  html`<details><summary>${todo}</summary><ul>${steps.map(step => html`<li>${step}</li>`)}</ul></details>`
