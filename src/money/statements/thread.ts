/** What threads load of this area: the drawing of documents, which is long. Nothing here knows a database. */
