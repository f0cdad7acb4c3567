import type { RequestHandler } from 'express'

/** Your own Express middleware, called before the routes: see docs/how-to/add-middleware.md. */
export const middleware: readonly RequestHandler[] = []
