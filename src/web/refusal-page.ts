import { type Html, html } from './html.ts'
import type { Language } from './language.ts'
import { baseStyle, pageAsset, refusalStyle } from './page-assets.ts'

/** Servers of page assets must serve this one as well. */
export const plainStyle = pageAsset('plain', 'css', `${baseStyle()}\n${refusalStyle()}`)

interface Words {
  readonly title: string
  readonly again: string
  readonly soon: (seconds: number) => string
  readonly request: string
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
    title: 'This page cannot be shown',
    again: 'Try again',
    soon: seconds => `This page asks again by itself in ${seconds} seconds.`,
    request: 'Request',
    database: {
      title: 'The database cannot be reached',
      lead: 'The service runs, and cannot look anything up just now.',
      safe: 'Nothing is lost, and nothing is paid meanwhile: agents get the same answer, and what was under way goes on once the database is back.',
      todo: 'What an operator looks at',
      steps: [
        'Whether PostgreSQL runs, and has room on its disk and connections left.',
        'Whether DATABASE_URL of the service still leads to it.',
        'GET /health, and the log of the service: both say when it is back. It needs no restart.',
      ],
    },
  },
  de: {
    title: 'Diese Seite kann nicht gezeigt werden',
    again: 'Noch einmal versuchen',
    soon: seconds => `Diese Seite fragt in ${seconds} Sekunden von selbst noch einmal.`,
    request: 'Anfrage',
    database: {
      title: 'Die Datenbank ist nicht erreichbar',
      lead: 'Der Dienst läuft, kann aber gerade nichts nachsehen.',
      safe: 'Nichts ist verloren, und inzwischen wird nichts bezahlt: Agenten bekommen dieselbe Antwort, und was unterwegs war, geht weiter, sobald die Datenbank wieder da ist.',
      todo: 'Was ein Betreiber nachsieht',
      steps: [
        'Ob PostgreSQL läuft und noch Platz und freie Verbindungen hat.',
        'Ob DATABASE_URL des Dienstes noch dorthin führt.',
        'GET /health und das Protokoll des Dienstes: Beide sagen, wann sie wieder da ist. Ein Neustart ist nicht nötig.',
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

/** An open page reloads no sooner than this: the service may be overloaded. */
const LEAST_SECONDS = 10

/** For a page that is refused before its session is known. It calls no operation. */
export function refusalPage(refused: Refused, language: Language): Html {
  const { code, status, message, root, retryAfter, requestId } = refused
  const { title, again, soon, request, database } = words[language]
  const isAway = code === 'unavailable'
  const heading = isAway ? database.title : title
  const againIn = isAway || retryAfter !== undefined ? Math.max(LEAST_SECONDS, retryAfter ?? 0) : undefined
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${againIn !== undefined && html`<meta http-equiv="refresh" content="${againIn}">`}
<title>${heading}</title>
<link rel="stylesheet" href="${root}console/assets/${plainStyle.name}">
</head>
<body>
<main>
<p class="code">${status}</p>
<h1>${heading}</h1>
${isAway ? html`<p class="lead">${database.lead}</p><p>${database.safe}</p>` : html`<p class="lead" lang="en">${message}</p>`}
${againIn !== undefined && html`<p role="status">${soon(againIn)}</p>`}
${isAway && helpOf(database)}
<p><a class="again" href="">${again}</a></p>
<p class="request">${request} <code>${requestId}</code></p>
</main>
</body>
</html>
`
}

const helpOf = ({ todo, steps }: Words['database']): Html =>
  html`<details><summary>${todo}</summary><ul>${steps.map(step => html`<li>${step}</li>`)}</ul></details>`
