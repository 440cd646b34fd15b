-- A file of results as dicegym wrote it before there were migrations.
BEGIN TRANSACTION;
CREATE TABLE about (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "about" VALUES('schema','1');
INSERT INTO "about" VALUES('game','yatzy');
CREATE TABLE games (
	id INTEGER NOT NULL, 
	run INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	seed TEXT NOT NULL, 
	ended TEXT NOT NULL, 
	seconds FLOAT NOT NULL, 
	actions TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (run, number), 
	FOREIGN KEY(run) REFERENCES runs (id)
);
INSERT INTO "games" VALUES(1,1,0,'18446744073709551615','2026-11-22T03:59:15.664+00:00',1.5,'[256,512,1000]');
CREATE TABLE incidents (
	id INTEGER NOT NULL, 
	game INTEGER NOT NULL, 
	seat INTEGER NOT NULL, 
	turn INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(game) REFERENCES games (id)
);
INSERT INTO "incidents" VALUES(1,1,1,4,'took more');
CREATE TABLE ratings (
	name TEXT NOT NULL, 
	rating FLOAT NOT NULL, 
	games INTEGER NOT NULL, 
	wins INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "ratings" VALUES('anna',1216.0,1,1);
INSERT INTO "ratings" VALUES('bob',1184.0,1,0);
CREATE TABLE results (
	game INTEGER NOT NULL, 
	seat INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	total INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	"before" FLOAT NOT NULL, 
	"after" FLOAT NOT NULL, 
	PRIMARY KEY (game, seat), 
	FOREIGN KEY(game) REFERENCES games (id), 
	FOREIGN KEY(name) REFERENCES ratings (name)
);
INSERT INTO "results" VALUES(1,0,'anna',231,1,1200.0,1216.0);
INSERT INTO "results" VALUES(1,1,'bob',198,2,1200.0,1184.0);
CREATE TABLE runs (
	id INTEGER NOT NULL, 
	began TEXT NOT NULL, 
	seed TEXT NOT NULL, 
	version TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES(1,'2026-11-22T03:59:15.644+00:00','7','0.1.0');
CREATE INDEX ix_results_name ON results (name);
CREATE INDEX ix_incidents_game ON incidents (game);
COMMIT;
