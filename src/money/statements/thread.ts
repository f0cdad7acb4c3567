/** Runs in threads, which generate PDF documents. Nothing it imports may reach a database. */
export { pdfOf } from './pdf.ts'
export { LEFT, PdfDocument, RIGHT } from './pdf-document.ts'
