/** What threads load of this noun: the drawing of PDF documents. Nothing it imports may reach a database. */
export { pdfOf } from './pdf.ts'
